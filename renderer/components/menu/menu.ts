import type { AcceleratorName } from '#shared/accelerators.ts'
import type { IconName } from '../icons.ts'

/** A menu entry, or a line between two groups. */
export type MenuEntry =
  | 'line'
  | {
      label: string
      icon?: IconName
      run: () => unknown
      /** Whether it is on, for an entry that is a switch. */
      checked?: boolean
      /** A key, shown at the end. */
      hint?: string
      /** What else there is to say of it, shown at the end. */
      note?: string
      danger?: boolean
      /** Why the entry is disabled. */
      unusable?: string
    }

/**
 * The container for menus: inside the page's main landmark, so that screen readers find them there, or the body while a
 * dialog is modal.
 */
export function floatsIn(): Element | 'body' {
  const beside = document.querySelector('[aria-modal=true]')
  return (beside ? null : document.querySelector('main > .floats')) ?? 'body'
}

/** An action: an entry of a menu or the palette, or a key on a row. */
export interface Action {
  id: string
  label: string
  icon?: IconName
  /** The first of a group in a menu. */
  first?: true
  /** Its key on the instance's row. */
  key?: string
  /** Its keys on every screen. */
  accelerator?: AcceleratorName
  danger?: boolean
  /** Why the action is not possible now. */
  unusable?: string
  run: () => unknown
}

/**
 * Up and Down move the focus through a list of choices, also from its search field. `stops`: a selector of what takes it, in
 * their order. For `onkeydown` of what is around them.
 */
export function moveThrough(stops: string): (event: KeyboardEvent & { currentTarget: HTMLElement }) => void {
  return event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>(stops)]
    all[all.findIndex(stop => stop.matches(':focus')) + step]?.focus()
  }
}
