import type { AcceleratorName } from '#contract/app/accelerators.ts'
import type { IconName } from '#renderer/components/icons.ts'

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
