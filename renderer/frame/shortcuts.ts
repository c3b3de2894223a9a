import { type AcceleratorName, acceleratorOf } from '../../electron/contract/accelerators.ts'
import type { Page } from '../berth/page.svelte.ts'
import { asks } from './asks.svelte.ts'
import { route } from './route.svelte.ts'

const typing = 'input, textarea, select, [contenteditable], .xterm'

/** What each accelerator does here; the rest of them are screens to go to. */
function press(name: AcceleratorName, page: Page): void {
  if (name === 'palette') {
    if (asks.open?.kind === 'palette') asks.close()
    else asks.ask({ kind: 'palette' })
  } else if (name === 'connect') asks.ask({ kind: 'connect' })
  else if (name === 'refresh') void page.attempt(page.berth.refresh({}))
  else route.go(name)
}

/** The keys that work anywhere on the page. */
export function pageKey(event: KeyboardEvent, page: Page): void {
  const inTerminal = event.target instanceof Element && event.target.closest('.xterm') !== null
  const accelerator = acceleratorOf(event)
  if (accelerator !== undefined) {
    // A shell wants its control keys (Ctrl K cuts a line): there only the Command key is Berth's.
    if (inTerminal && !event.metaKey) return
    if (asks.open && accelerator !== 'palette') return
    event.preventDefault()
    press(accelerator, page)
    return
  }
  if (asks.open || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target instanceof Element && event.target.closest(typing)) return
  if (event.key === '?') asks.ask({ kind: 'shortcuts' })
  if (event.key === '/') {
    const filter = document.querySelector<HTMLInputElement>('main input[type=search]')
    if (!filter) return
    event.preventDefault()
    filter.focus()
  }
}
