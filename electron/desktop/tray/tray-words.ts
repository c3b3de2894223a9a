import type { CommandName } from '#contract/commands.ts'
import { creditLasts, isOnTheMeter, spendOnceReady } from '#shared/derived.ts'
import { money } from '#shared/format/money.ts'
import { roughDuration, timeOfDay } from '#shared/format/time.ts'
import type { AccountId } from '#shared/ids.ts'
import type { UndoableAction } from '#shared/instance/instance.ts'
import { spendWords } from '#shared/spending/spend-words.ts'
import type { AccountView, Place } from '#shared/state.ts'

/** `Credit $48.20, lasts 17 h`, `Credit −$7.43, used up`; `Credit $48.20 as of 13:05, …` where it is not current. */
export function creditLine(account: AccountView): string {
  if (account.credit === undefined) return account.creditUntold ? 'Credit unknown' : 'Credit not known yet'
  const lasts = creditLasts(account, spendOnceReady(account))
  const left = lasts === undefined ? '' : lasts > 0 ? `, lasts ${roughDuration(lasts)}` : ', used up'
  const asOf = account.creditAt === undefined ? '' : ` as of ${timeOfDay(account.creditAt)}`
  return `Credit ${money(account.credit)}${asOf}${left}`
}

/** `2 running, $1.240/h` or `Nothing running, $0.000/h`, for one account or several. */
export function spendLine(accounts: readonly AccountView[]): string {
  const instances = accounts.flatMap(account => Object.values(account.instances))
  const running = instances.filter(isOnTheMeter).length
  const spendPerHour = accounts.reduce((sum, account) => sum + account.spendPerHour, 0)
  const words = spendWords({ spendPerHour, instances: Object.fromEntries(instances.entries()) })
  return `${running === 0 ? 'Nothing running' : `${running} running`}, ${words}`
}

/** The action of a menu entry. */
export type TrayAction =
  | { kind: 'open' }
  | { kind: 'quit' }
  /** Shows the window at that place. */
  | { kind: 'go'; account?: AccountId; place: Place }
  /** `what` completes "Could not …" on failure. */
  | { kind: 'command'; name: CommandName; args: unknown; what: string }
  /** Done to an instance with the question and the undo that its row has. */
  | { kind: 'act'; action: UndoableAction; account: AccountId; instance: number; what: string }
  /** Copies a command's text answer to the clipboard. */
  | { kind: 'copy'; name: CommandName; args: unknown; what: string }

/** A menu entry; without an action or a submenu it is only a label. */
export type MenuItemModel =
  | { separator: true }
  | { label: string; action?: TrayAction; submenu?: readonly MenuItemModel[] }

/** What a menu offers, without the figures in its labels. */
export function menuShape(items: readonly MenuItemModel[]): string {
  return JSON.stringify(items, (key, value: unknown) =>
    key === 'label' && typeof value === 'string' ? value.replaceAll(/[\d.,]+/g, '') : value,
  )
}
