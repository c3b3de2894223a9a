import { sweepLimit } from '#shared/automation/run.ts'
import { money } from '#shared/format/money.ts'
import { counted } from '#shared/format/size.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { sweepAlertId } from '../limits/alerts.ts'
import { titled } from '../runs/alerts.ts'
import type { Sweep } from './record.ts'

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
    id: sweepAlertId(account, id),
    instance: undefined,
    place: { screen: 'projects', project: project.id, entry: id } as const,
  }
}

export const haltedByUser: Problem = {
  code: 'sweep_halted_by_user',
  message: 'You stopped a machine of it.',
  advice: 'No other run starts until you continue.',
}

export function limitReached(kind: 'cost' | 'time'): Problem {
  return {
    code: sweepLimit,
    message: `It has reached its ${kind} limit.`,
    advice: 'Its machines are stopped and keep their files. Continue resets the limits.',
  }
}

/** The problem of a run that its sweep ends at its limit. */
export const sweepAtLimit: Problem = { code: sweepLimit, message: 'The sweep has reached its limit.' }

export function firstFailed(count: number, reason = ''): Problem {
  return {
    code: 'sweep_failing',
    message: `The first ${counted(count, 'run')} failed: ${reason}`,
    advice: 'Fix the cause, then continue. Until then no other run starts.',
  }
}

export const notRented: Problem = { code: 'not_rented', message: 'No machine was rented.' }

export const sweepGoing: Problem = { code: 'sweep_going', message: 'It’s still running.' }

/** Why a sweep can't be dismissed. `kept`: its failed runs that still have their machines. */
export function stillGoing(kept: number): Problem {
  return kept === 0
    ? {
        code: 'still_running',
        message: 'It’s still running.',
        advice: 'Stop it first, or wait until it ends.',
      }
    : {
        code: 'still_running',
        message: `${counted(kept, 'failed run')} still ${kept === 1 ? 'has its machine' : 'have their machines'}.`,
        advice: 'Resume them, or destroy their machines first.',
      }
}
