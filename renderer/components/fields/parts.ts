import { tick } from 'svelte'

/** Focuses the first field of a form part that was just opened, and scrolls the part into view. */
export async function enterPart(part: () => HTMLElement | undefined): Promise<void> {
  await tick()
  const here = part()
  here?.querySelector<HTMLElement>('input:not([type=radio]), textarea')?.focus({ preventScroll: true })
  here?.scrollIntoView({ block: 'nearest' })
}

/** Focuses the button that opens a form part that was just closed. */
export async function leavePart(part: () => HTMLElement | undefined): Promise<void> {
  await tick()
  part()?.querySelector('button')?.focus()
}
