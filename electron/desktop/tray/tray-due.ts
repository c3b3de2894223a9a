import { type LimitView, snoozes } from '#shared/automation/limit.ts'
import { type DueLimit, dueLimits } from '#shared/automation/limit-words.ts'
import { everything, isAnythingRunning } from '#shared/automation/limits-that-block.ts'
import { duration, weekdayAndTime } from '#shared/format/time.ts'
import { instanceTitle, word } from '#shared/instance/short-lines.ts'
import type { AccountView } from '#shared/state.ts'
import type { MenuItemModel } from './tray-words.ts'

/**
 * The next limit that acts on each account, soonest first and with its snoozes, and the entries that ask whether to
 * stop everything on an account. With several accounts each entry names its own.
 */
export function dueEntries(accounts: readonly AccountView[]): MenuItemModel[] {
  const on = (account: AccountView) => (accounts.length > 1 ? ` on ${word(account.name)}` : '')
  return [
    ...dueLimits(accounts, 1).map(due => dueEntry(due, on(due.account))),
    ...accounts
      .filter(account => isAnythingRunning(everything(account)))
      .map(account => ({
        label: `Stop everything${on(account)}…`,
        action: {
          kind: 'go' as const,
          account: account.id,
          place: { screen: 'here', ask: 'stopAll' } as const,
        },
      })),
  ]
}

function dueEntry({ account, limit, dueAt, timing }: DueLimit, on: string): MenuItemModel {
  const place =
    limit.instance === undefined
      ? ({ screen: 'account' } as const)
      : ({ screen: 'instances', instance: limit.instance, tab: 'automation' } as const)
  return {
    label: `${timing}${on}: ${whatHappens(account, limit)}, ${weekdayAndTime(dueAt)}`,
    submenu: [
      ...snoozes.map(minutes => ({
        label: `Extend ${duration(minutes * 60)}`,
        action: {
          kind: 'command' as const,
          name: 'snoozeLimit' as const,
          args: { account: account.id, limit: limit.id, minutes },
          what: 'extend that limit',
        },
      })),
      { separator: true },
      { label: 'Show', action: { kind: 'go', account: account.id, place } },
    ],
  }
}

function whatHappens(account: AccountView, { instance, action }: LimitView): string {
  const verb = action === 'stop' ? 'stops' : 'destroys'
  if (instance === undefined) return 'stops all instances'
  const view = account.instances[instance]
  return `${verb} ${view ? instanceTitle(view) : `#${instance}`}`
}
