import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import { type AcceleratorName, defaultShortcuts, letterOf, shortcutOf } from '#shared/accelerators.ts'

const typing = 'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], .xterm'
/** Dialogs, which are answered or closed before a shortcut works: leaving would lose what was typed there. */
const dialog = '[aria-modal=true]'

/** The field above a screen's list that searches it. */
const findField = 'main input[type=search]:not(form input)'
/** Focuses the first entry of the screen's list; on a screen without one its top. */
export function focusList(): void {
  const main = document.querySelector('main')
  const first = main?.querySelector<HTMLElement>(
    ':is(tbody, ul) :is(a, button, [tabindex="0"]):not([tabindex="-1"])',
  )
  ;(first ?? main)?.focus()
}

/** Where the keys that page scroll to. The browser scrolls only what is around the focus, which is on the whole screen. */
const pages: Readonly<Record<string, (area: Element) => number>> = {
  PageDown: ({ scrollTop, clientHeight }) => scrollTop + 0.9 * clientHeight,
  ' ': ({ scrollTop, clientHeight }) => scrollTop + 0.9 * clientHeight,
  PageUp: ({ scrollTop, clientHeight }) => scrollTop - 0.9 * clientHeight,
  Home: () => 0,
  End: ({ scrollHeight }) => scrollHeight,
}

/** The outermost part of the screen that scrolls. */
function scrollArea(): Element | undefined {
  const main = document.querySelector('main')
  return [main, ...(main?.querySelectorAll(':not([inert] *)') ?? [])].find(
    (one): one is Element =>
      one !== null &&
      one.scrollHeight > one.clientHeight &&
      /auto|scroll/.test(getComputedStyle(one).overflowY),
  )
}

/** Each leads to a screen, or to the list of the one that is shown, except the palette's. */
function press(name: AcceleratorName): void {
  if (name === 'palette') {
    if (dialogs.open?.kind === 'palette') dialogs.close(dialogs.open)
    else dialogs.show({ kind: 'palette' })
  } else if (route.screen === name && route.rest.length === 0) focusList()
  else route.go(name)
}

/**
 * Keeps keys to the input method that composes a character with them: Enter takes its word and does nothing else, Escape
 * gives it up. Terminals and editors know of it. 229: what Safari gives the key that ends it.
 */
export function keepFromComposing(event: KeyboardEvent): void {
  const [target] = event.composedPath()
  const knows = target instanceof Element && target.closest('.xterm, .cm-editor') !== null
  if ((event.isComposing || event.keyCode === 229) && !knows) event.stopPropagation()
}

/** The keys that work anywhere on the page. */
export function pageKey(page: Page, event: KeyboardEvent): void {
  const isBusy = () => dialogs.open !== undefined || document.querySelector(dialog) !== null
  // The editor has its own shadow tree.
  const [target] = event.composedPath()
  const inTerminal = target instanceof Element && target.closest('.xterm') !== null
  const accelerator = shortcutOf(event, page.state?.settings.shortcuts ?? defaultShortcuts)
  // Open details handle it themselves, even before a shell.
  if (accelerator === 'maximise') return
  if (accelerator !== undefined) {
    // A shell needs its control keys (Ctrl K cuts a line): there only the Command key is Berth's.
    if (inTerminal && !event.metaKey) return
    const closesPalette = accelerator === 'palette' && dialogs.open?.kind === 'palette'
    event.preventDefault()
    if (closesPalette || !isBusy()) press(accelerator)
    return
  }
  const types = target instanceof Element && target.closest(typing) !== null
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
  if (event.key === 'ArrowDown' && isPlain && target === document.querySelector(findField)) {
    event.preventDefault()
    focusList()
    return
  }
  const undoes =
    letterOf(event) === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
  if (undoes && !types) {
    if (page.undo()) event.preventDefault()
    return
  }
  if (types || !isPlain || isBusy()) return
  const to = pages[event.key]
  const area = to && target instanceof Element && target.matches('main, body') ? scrollArea() : undefined
  if (to && area && !event.shiftKey && !event.defaultPrevented) {
    event.preventDefault()
    area.scrollTop = to(area)
  }
  if (event.key === '?') dialogs.show({ kind: 'shortcuts' })
  if (event.key === '/') {
    const field = document.querySelector<HTMLInputElement>(findField)
    if (!field) return
    event.preventDefault()
    field.focus()
    // What is typed next replaces the words of before.
    field.select()
  }
}
