import type { Action } from '#renderer/components/menu/menu.ts'
import { pressAction } from '#renderer/features/instances/actions.ts'
import { letterOf } from '#shared/accelerators.ts'

/** Moves the focus from a row to another one's name, if there is one. */
function focusRow(from: HTMLElement, to: 'next' | 'previous' | 'first' | 'last'): void {
  const names = [...(from.closest('tbody')?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
  const at = names.findIndex(name => from.contains(name))
  const target =
    to === 'first' ? names[0] : to === 'last' ? names.at(-1) : names[at + (to === 'next' ? 1 : -1)]
  target?.focus()
}

const moves = { ArrowDown: 'next', ArrowUp: 'previous', Home: 'first', End: 'last' } as const

/** Handles a key pressed anywhere in a row: arrows move, letters act, Escape closes the details. */
export function rowKey(
  event: KeyboardEvent,
  actions: readonly Action[],
  more: () => void,
  close: () => void,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.currentTarget instanceof HTMLElement)) return
  const move = Object.entries(moves).find(([key]) => key === event.key)?.[1]
  if (move) focusRow(event.currentTarget, move)
  else if (pressAction(event, actions)) return
  else if (letterOf(event) === 'm') more()
  else if (event.key === 'Escape') close()
  else return
  event.preventDefault()
}
