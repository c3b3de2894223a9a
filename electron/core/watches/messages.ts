import { rate } from '#shared/format/money.ts'
import { count } from '#shared/format/size.ts'
import type { Problem } from '#shared/problem.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { Watch } from './record.ts'
import type { WatchResult } from './step.ts'

/** One id per watch, so that a later alert replaces the earlier one. */
export function watchAlertId({ account, id }: Pick<Watch, 'account' | 'id'>): string {
  return `${account}/watch/${id}`
}

/** The alert for new offers, which leads to renting the cheapest one. Undefined when there are none. */
export function matchAlert(
  watch: Watch,
  { fresh, matching }: Pick<WatchResult, 'fresh' | 'matching'>,
): Alert | undefined {
  const [best] = fresh
  if (!best) return undefined
  const { gpuName, gpuCount, location } = best.offer
  const { query, filter } = watch.request.search
  return alertOf('offersFound', {
    id: watchAlertId(watch),
    title: `${gpuCount && gpuCount > 1 ? `${gpuCount} × ` : ''}${gpuName ?? 'A machine'} at ${rate(best.price ?? 0)}`,
    body: `${location ? `${location}. ` : ''}“${watch.request.name}”: ${count(fresh.length)} new, ${count(matching.length)} match${
      matching.length === 1 ? 'es' : ''
    } now.`,
    place: { screen: 'offers', search: { query, filter }, offer: best.offer.id },
  })
}

/** The alert for a renting watch that is done or stopped. */
export function watchDoneAlert(watch: Watch, title: string, body: string): Alert {
  return alertOf('watchDone', { id: watchAlertId(watch), title, body })
}

/** The alert once it has rented all that it may. */
export function allRentedAlert(watch: Watch): Alert {
  const machines = watch.rented === 1 ? 'One machine was' : `${watch.rented} machines were`
  const body = `${machines} rented, the maximum you set.`
  return watchDoneAlert(watch, `The watch “${watch.request.name}” is done`, body)
}

/** The most watches of an account. */
export const mostWatches = 50

export const tooMany: Problem = {
  code: 'too_many_watches',
  message: `There are ${mostWatches} watches already.`,
  advice: 'Delete one you no longer need.',
}

/** Failed rentals in a row after which a watch stops renting. */
export const mostFailed = 3

export const secretsLost: Problem = {
  code: 'secrets_lost',
  message: 'Its secret values are no longer in the keychain.',
  advice: 'Change the watch and enter them again.',
}

export const failsAlways: Problem = {
  code: 'watch_failed',
  message: `${mostFailed} attempts in a row failed.`,
  advice: 'See Activity for the reasons. Resume the watch to try again.',
}

export function keptProblem(instance: number): Problem {
  return {
    code: 'watch_kept',
    message: `#${instance} was stopped elsewhere while it was being rented, and is kept. Its disk is billed.`,
    advice: 'Start or destroy it, then resume the watch.',
  }
}
