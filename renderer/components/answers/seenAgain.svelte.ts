import { untrack } from 'svelte'
import type { Page } from '../../berth/page.svelte.ts'

/** Does it whenever an outage is over, and at once where there is none: what it kept from being answered is asked again. */
export function seenAgain(page: Page, ask: () => void): void {
  $effect(() => {
    if (!page.outageShown) untrack(ask)
  })
}
