import type { CommandName } from '../../contract/commands.ts'
import type { AccountId } from '../../contract/ids.ts'
import type { Place } from '../../contract/state.ts'

/** What a click in the tray does. */
export type TrayAction =
  | { kind: 'open' }
  | { kind: 'quit' }
  /** Shows the window with that place on it. */
  | { kind: 'go'; account?: AccountId; place: Place }
  /** `what` finishes "Could not …" should it fail. */
  | { kind: 'command'; name: CommandName; args: unknown; what: string }
  /** Starts an instance, with a question first where a guard would stop it again at once. */
  | { kind: 'start'; account: AccountId; instance: number; what: string }
  /** Puts a command's answer, a text, on the clipboard. */
  | { kind: 'copy'; name: CommandName; args: unknown; what: string }

/** An entry of the menu; without an action or a submenu it only tells. */
export type MenuItemModel =
  | { separator: true }
  | { label: string; action?: TrayAction; submenu?: readonly MenuItemModel[] }
