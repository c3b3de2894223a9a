import { money } from '#shared/format/money.ts'
import { counted } from '#shared/format/size.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { titled } from '../runs/alerts.ts'
import type { Group } from './model.ts'

/** The alert once each run of a sweep has ended. */
export function groupEndedAlert(
  account: AccountId,
  group: Group,
  { done, cost }: { done: number; cost: Micros },
): Alert {
  const all = group.settings.length
  return alertOf(done === all ? 'runDone' : 'runEnded', {
    ...aboutGroup(account, group),
    title: titled(group, done === all ? 'is done' : `ended: ${done} of ${all} done`),
    body: `${counted(all, 'run')} cost ${money(cost)}.`,
  })
}

/** The alert for a sweep that starts no other run. */
export function groupHaltedAlert(account: AccountId, group: Group, { message, advice }: Problem): Alert {
  return alertOf('runFailed', {
    ...aboutGroup(account, group),
    title: titled(group, 'is paused'),
    body: [message, advice].filter(Boolean).join(' '),
  })
}

function aboutGroup(account: AccountId, { id, project }: Group) {
  return {
    id: `${account}/group/${id}`,
    instance: undefined,
    place: { screen: 'projects', project: project.id } as const,
  }
}
