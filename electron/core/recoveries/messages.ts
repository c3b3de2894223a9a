import { instanceName, shortInstanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { type Alert, alertOf } from '../alerts/events.ts'

/** A step of a recovery in Activity. */
export function stepOn(instance: InstanceView, text: string): string {
  return `${text}: ${instanceName(instance)}`
}

/** The alert about a recovery's action or, with a problem, why it does nothing. */
export function recoveryAlert(
  account: AccountId,
  instance: InstanceView,
  text: string,
  problem?: Problem,
): Alert {
  const { id } = instance
  const { message, advice } = problem ?? { message: 'It starts again automatically.' }
  return alertOf(problem ? 'notRecovered' : 'recovered', {
    id: `${account}/recovery/${id}`,
    instance: id,
    title: `${shortInstanceName(instance)}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`,
    body: advice === undefined ? message : `${message} ${advice}`,
  })
}

export const unknownMinimum: Problem = {
  code: 'unknown_minimum',
  message: 'The service doesn’t report the minimum bid, so Berth can’t choose one.',
  advice: 'Raise the bid yourself.',
}

export const aboveCeiling: Problem = {
  code: 'above_ceiling',
  message: 'The minimum is above the highest bid that you allow.',
  advice: 'Wait for it to drop, allow a higher bid, or rent another.',
}

export const notInterruptible: Problem = {
  code: 'not_interruptible',
  message: 'This instance is on-demand, so it can’t be outbid.',
}
