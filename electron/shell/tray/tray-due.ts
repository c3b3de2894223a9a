import { dueNext, type GuardView, snoozes } from '../../contract/automation/guard.ts'
import { everything } from '../../contract/automation/stop-everything.ts'
import type { AccountView } from '../../contract/state.ts'
import type { MenuItemModel } from './tray-menu.ts'
import { instanceTitle } from './tray-words.ts'

/** What Berth does next by itself, with its snoozes, and the way to the question whether everything is to stop. */
export function dueEntries(account: AccountView): MenuItemModel[] {
  const [next] = dueNext(account.guards)
  const { instances, rentals, failovers, watches } = everything(account)
  const entries: MenuItemModel[] = []
  if (next) entries.push(dueEntry(account, next.guard, next.dueAt))
  if (instances.length + rentals.length + failovers.length + watches.length > 0)
    entries.push({
      label: 'Stop everything…',
      action: { kind: 'go', account: account.id, place: { screen: 'here', ask: 'stopAll' } },
    })
  return entries
}

function dueEntry(account: AccountView, guard: GuardView, dueAt: number): MenuItemModel {
  const place =
    guard.instance === undefined
      ? ({ screen: 'account' } as const)
      : ({ screen: 'instances', instance: guard.instance, tab: 'guards' } as const)
  return {
    label: `Next: ${whatHappens(account, guard)}, ${moment.format(dueAt * 1000)}`,
    submenu: [
      ...snoozes.map(minutes => ({
        label: `Snooze for ${minutes < 60 ? `${minutes} min` : `${minutes / 60} h`}`,
        action: {
          kind: 'command' as const,
          name: 'snoozeGuard' as const,
          args: { account: account.id, guard: guard.id, minutes },
          what: 'snooze that guard',
        },
      })),
      { separator: true },
      { label: 'Show', action: { kind: 'go', account: account.id, place } },
    ],
  }
}

const moment = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' })

function whatHappens(account: AccountView, { instance, action }: GuardView): string {
  const verb = action === 'stop' ? 'stops' : 'destroys'
  if (instance === undefined) return 'stops what runs'
  const view = account.instances[instance]
  return `${verb} ${view ? instanceTitle(view) : `#${instance}`}`
}
