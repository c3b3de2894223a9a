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
      danger?: boolean
      /** Why the entry is disabled. */
      unusable?: string
    }
