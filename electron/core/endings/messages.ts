import { ServiceError } from '#service/service-error.ts'
import type { EndingAction } from '#shared/automation/ending.ts'
import { rate } from '#shared/format/money.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { ActivityEntry } from '#shared/state.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import { lackedBy, problemOf } from '../bridge/problems.ts'
import { type Ending, endedText } from './record.ts'

const past: Record<EndingAction, string> = { stop: 'stopped', destroy: 'destroyed' }

export function endingAlertId(account: AccountId, instance: number): string {
  return `${account}/ending/${instance}`
}

/** It has been requested several times, and is not seen. `costPerHour`: its present cost; 0 where it is unknown. */
export function urgentAlert(account: AccountId, ending: Ending, costPerHour: Micros): Alert {
  const { instance, action, name, requests, problem } = ending
  const cost = costPerHour > 0 ? ` It still costs ${rate(costPerHour)}.` : ''
  const times = requests === 1 ? 'once' : `${requests} times`
  return alertOf('notEnded', {
    id: endingAlertId(account, instance),
    instance,
    title: `${name} isn’t ${past[action]} yet`,
    body: `Berth requested it ${times} and keeps trying.${cost} ${
      problem?.message ?? 'The service accepts it, and nothing changes.'
    } If it goes on, use the service’s website.`,
  })
}

/** After the user was alerted that it lasts. */
export function finallyEndedAlert(account: AccountId, { instance, action, name }: Ending): Alert {
  return alertOf('endedAfterAll', {
    id: endingAlertId(account, instance),
    title: `${name} is ${past[action]}`,
    body: 'It took several requests.',
  })
}

/** Activity's line on an end that is seen; none where a limit or another part of Berth tells more, or it was someone else's. */
export function endedLine(
  ending: Ending,
  isOthers: boolean,
): Pick<ActivityEntry, 'kind' | 'text' | 'detail'> | undefined {
  const { cause } = ending
  if (cause.kind === 'user') return { kind: 'user', text: endedText(ending) }
  if (cause.kind !== 'berth' || cause.isTold || isOthers) return undefined
  const { text = endedText(ending), detail } = cause
  return { kind: 'berth', text, detail }
}

/** Activity's line on an instance that was gone and is listed again, or was stopped and runs. */
export function returnedText({ action, name, isStopped }: Ending): string {
  if (isStopped) return `${name} runs again though it was stopped, so Berth stops it again`
  return `${name} is listed again, so Berth ${action === 'stop' ? 'stops' : 'destroys'} it again`
}

/** Berth has asked for it several times, and goes on. */
export function notEndedYet({ action, problem }: Ending): Problem {
  const message = `It isn’t ${past[action]} yet.`
  return {
    code: action === 'stop' ? 'not_stopped_yet' : 'not_destroyed_yet',
    message: problem ? `${message} ${problem.message}` : message,
    advice: 'Berth keeps trying.',
  }
}

/** Why a wait for an end is over without it: it was started, or Berth ends. */
export const cancelled: Problem = { code: 'not_stopped', message: 'It was started again instead.' }

/** Why it can't be taken back. */
export function requestedAlready({ name, action }: Pick<Ending, 'name' | 'action'>): Problem {
  return {
    code: 'ending_requested',
    message: `${name} is being ${action === 'stop' ? 'stopped' : 'destroyed'} at this moment.`,
    advice: 'Look in a moment whether it is still there, then try again.',
  }
}
export const berthEnds: Problem = {
  code: 'ended',
  message: 'Berth is quitting.',
  advice: 'It continues at the next start.',
}

/** Whether a request took effect all the same is no question here: it is repeated until that is seen. */
export function problemOfEnd(error: unknown): Problem {
  if (error instanceof ServiceError && error.ambiguous) return { code: error.code, message: error.message }
  return lackedBy(error, 'instance_write') ?? problemOf(error)
}
