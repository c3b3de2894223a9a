/** One entry of a menu, or a line between two groups of them. */
export type MenuEntry =
  | 'line'
  | {
      label: string
      run: () => unknown
      /** Shown at the end: a key. */
      hint?: string
      danger?: boolean
      /** Why it cannot be used now. */
      unusable?: string
    }
