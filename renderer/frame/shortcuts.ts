import { asks } from './asks.svelte.ts'
import { route } from './route.svelte.ts'
import { screens } from './screens.ts'

const typing = 'input, textarea, select, [contenteditable], .xterm'

/** The keys that work anywhere on the page. */
export function pageKey(event: KeyboardEvent): void {
  const mod = event.ctrlKey || event.metaKey
  const inTerminal = event.target instanceof Element && event.target.closest('.xterm') !== null
  if (mod && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
    // Ctrl K cuts a line in a shell; there the palette opens with the Command key or from outside.
    if (inTerminal && !event.metaKey) return
    event.preventDefault()
    if (asks.open?.kind === 'palette') asks.close()
    else asks.ask({ kind: 'palette' })
    return
  }
  if (asks.open) return
  if (mod && !inTerminal && /^[1-9]$/.test(event.key)) {
    const screen = screens[Number(event.key) - 1]
    if (!screen) return
    event.preventDefault()
    route.go(screen.id)
    return
  }
  if (mod || event.altKey || (event.target instanceof Element && event.target.closest(typing))) return
  if (event.key === '?') asks.ask({ kind: 'shortcuts' })
  if (event.key === '/') {
    const filter = document.querySelector<HTMLInputElement>('main input[type=search]')
    if (!filter) return
    event.preventDefault()
    filter.focus()
  }
}
