import type { CommandName } from '#contract/commands.ts'
import type { AccountId } from '#contract/ids.ts'
import type { Place } from '#contract/state.ts'

/** The action of a menu entry. */
export type TrayAction =
  | { kind: 'open' }
  | { kind: 'quit' }
  /** Shows the window at that place. */
  | { kind: 'go'; account?: AccountId; place: Place }
  /** `what` completes "Could not …" on failure. */
  | { kind: 'command'; name: CommandName; args: unknown; what: string }
  /** Starts an instance, but asks first where a limit would stop it at once. */
  | { kind: 'start'; account: AccountId; instance: number; what: string }
  /** Copies a command's text answer to the clipboard. */
  | { kind: 'copy'; name: CommandName; args: unknown; what: string }

/** A menu entry; without an action or a submenu it is only a label. */
export type MenuItemModel =
  | { separator: true }
  | { label: string; action?: TrayAction; submenu?: readonly MenuItemModel[] }
