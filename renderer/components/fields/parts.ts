import { tick } from 'svelte'

/** Once a part of a form has opened: its first field is in sight and has the focus. */
export async function enterPart(part: () => HTMLElement | undefined): Promise<void> {
  await tick()
  const here = part()
  here?.querySelector<HTMLElement>('input:not([type=radio]), textarea')?.focus({ preventScroll: true })
  here?.scrollIntoView({ block: 'nearest' })
}

/** Once it has closed: the button that opens it has the focus. */
export async function leavePart(part: () => HTMLElement | undefined): Promise<void> {
  await tick()
  part()?.querySelector('button')?.focus()
}
