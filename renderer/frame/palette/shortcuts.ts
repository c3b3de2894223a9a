import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import { type AcceleratorName, defaultShortcuts, shortcutOf } from '#shared/accelerators.ts'

const typing = 'input, textarea, select, [contenteditable], .xterm'
/** Dialogs, which are answered or closed before a shortcut works: leaving would lose what was typed there. */
const dialog = '[aria-modal=true]'

/** Each leads to a screen, except the palette's. */
function press(name: AcceleratorName): void {
  if (name === 'palette') {
    if (dialogs.open?.kind === 'palette') dialogs.close(dialogs.open)
    else dialogs.show({ kind: 'palette' })
  } else route.go(name)
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
  const undoes = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
  if (undoes && !types) {
    if (page.undo()) event.preventDefault()
    return
  }
  if (types || event.ctrlKey || event.metaKey || event.altKey || isBusy()) return
  if (event.key === '?') dialogs.show({ kind: 'shortcuts' })
  if (event.key === '/') {
    const filter = document.querySelector<HTMLInputElement>('main input[type=search]')
    if (!filter) return
    event.preventDefault()
    filter.focus()
  }
}
