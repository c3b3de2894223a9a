/**
 * Whether a click ends a drag that selected text in a row, to copy it: then it does nothing else. A key's click on a
 * control (`detail` 0) is none.
 */
export function endsSelection({ currentTarget, detail }: MouseEvent): boolean {
  const selection = getSelection()
  return (
    detail > 0 &&
    currentTarget instanceof Node &&
    selection?.isCollapsed === false &&
    selection.containsNode(currentTarget, true)
  )
}

/** Gives the focus to what a row's keys go by, so that they go on from where the click was. */
export function focusInRow({ currentTarget }: MouseEvent, keysOf: string): void {
  if (currentTarget instanceof Element)
    currentTarget.querySelector<HTMLElement>(keysOf)?.focus({ preventScroll: true })
}

/** Whether a click opens the row that hears it: it is on none of its controls, and no end of a selection of its text. */
export function opensRow(event: MouseEvent): boolean {
  if (endsSelection(event)) {
    // Its link isn't followed, either.
    event.preventDefault()
    return false
  }
  return event.target instanceof Element && !event.target.closest('a, button, input')
}
