import type { AcceleratorName } from '../../../electron/contract/app/accelerators.ts'

/** Something that can be done: an entry of a menu, of the palette, or a key on a row. */
export interface Action {
  id: string
  label: string
  /** The key that does it on the instance's row. */
  key?: string
  /** The keys that do it anywhere. */
  accelerator?: AcceleratorName
  danger?: boolean
  /** Why it cannot be done now. */
  unusable?: string
  run: () => unknown
}
