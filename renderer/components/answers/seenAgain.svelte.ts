import { untrack } from 'svelte'
import type { Page } from '#renderer/berth/page.svelte.ts'

/** Calls `ask` now, or after an outage that is shown now, and again after every later one. */
export function seenAgain(page: Page, ask: () => void): void {
  $effect(() => {
    if (!page.outageShown) untrack(ask)
  })
}
