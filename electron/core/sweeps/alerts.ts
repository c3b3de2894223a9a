import { money } from '#shared/format/money.ts'
import { counted } from '#shared/format/size.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { titled } from '../runs/alerts.ts'
import type { Sweep } from './model.ts'

/** The alert once each run of a sweep has ended. */
export function sweepEndedAlert(
  account: AccountId,
  sweep: Sweep,
  { done, cost }: { done: number; cost: Micros },
): Alert {
  const all = sweep.settings.length
  return alertOf(done === all ? 'runDone' : 'runEnded', {
    ...aboutSweep(account, sweep),
    title: titled(sweep, done === all ? 'is done' : `ended: ${done} of ${all} done`),
    body: `${counted(all, 'run')} cost ${money(cost)}.`,
  })
}

/** The alert for a sweep that starts no other run. */
export function sweepHaltedAlert(account: AccountId, sweep: Sweep, { message, advice }: Problem): Alert {
  return alertOf('runFailed', {
    ...aboutSweep(account, sweep),
    title: titled(sweep, 'is paused'),
    body: [message, advice].filter(Boolean).join(' '),
  })
}

function aboutSweep(account: AccountId, { id, project }: Sweep) {
  return {
    id: `${account}/group/${id}`,
    instance: undefined,
    place: { screen: 'projects', project: project.id } as const,
  }
}
