import { ServiceError } from '#service/service-error.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { retryPause } from '../engine/worker.ts'
import type { Ending } from './record.ts'

/** What a fresh poll shows of an instance. */
export interface Reading {
  /** Its state in the list; undefined where the list lacks it. */
  state: InstanceState | undefined
  /** Whether a separate request for it was answered with: there is none. */
  isGone: boolean
}

/**
 * What a reading means for a stop or destroy:
 * - `seen`: it is done, if a separate request for a stopped instance agrees;
 * - `taken`: the service is at it;
 * - `open`: nothing shows it.
 */
export type Sight = 'seen' | 'taken' | 'open'

export function sightOf(
  { action, requests }: Pick<Ending, 'action' | 'requests'>,
  { state, isGone }: Reading,
): Sight {
  if (state === undefined) return isGone ? 'seen' : 'open'
  if (state === 'destroying') return 'taken'
  if (action === 'destroy') return 'open'
  if (state === 'stopping') return 'taken'
  // Its container can't start, and nothing else shows that the stop was taken in.
  if (state === 'unstartable') return requests > 0 ? 'seen' : 'open'
  return isAtRest(state) ? 'seen' : 'open'
}

/** Whether it was stopped. One that crashed is still meant to run, and may do so again. */
export function isAtRest(state: InstanceState): boolean {
  return hasTrait(state, 'halted') && state !== 'stopping'
}

/** Milliseconds after which the user is alerted that an ending lasts: for a dear machine sooner, and never before the least. */
const patience = { least: 60_000, most: 180_000 }
/** Micro-dollars that a machine may cost meanwhile. */
const mayCost = 50_000
/** One answer without effect is no news. */
const leastRequests = 2

/** What an ending's urgency follows from. */
export interface EndingSoFar extends Pick<Ending, 'requests' | 'isTaken' | 'isUrgent'> {
  /** Milliseconds since Berth, as it runs now, began with it. */
  lasted: number
  /** Micro-dollars per hour of what is to end; undefined where it is unknown. */
  costPerHour: number | undefined
}

/** Milliseconds until the user is alerted that an ending lasts, where nothing shows it: twice as long where the service is at it. */
export function untilUrgent({ isTaken, lasted, costPerHour }: EndingSoFar): number {
  const affordable = costPerHour === undefined ? 0 : (mayCost / costPerHour) * 3_600_000
  const alone = Math.min(patience.most, Math.max(patience.least, affordable))
  return (isTaken ? 2 * alone : alone) - lasted
}

export function isUrgentNow(ending: EndingSoFar): boolean {
  return !ending.isUrgent && ending.requests >= leastRequests && untilUrgent(ending) <= 0
}

/** Requests to destroy, without effect, after which a machine that runs is stopped as well: that costs less meanwhile. */
const destroysAlone = 2

/** Whether a machine that can't be destroyed is stopped until it can. */
export function isStoppedMeanwhile(
  { action, requests, isTaken = false }: Pick<Ending, 'action' | 'requests' | 'isTaken'>,
  state: InstanceState | undefined,
): boolean {
  if (action !== 'destroy' || requests < destroysAlone || isTaken) return false
  return state !== undefined && hasTrait(state, 'gpusCharged')
}

/**
 * Milliseconds until the next request: longer where the last one was accepted, which may need some seconds. No longer than
 * until the alert that it lasts, which comes after a request.
 */
export function pauseAfterRequest(
  { requests, problem }: Pick<Ending, 'requests' | 'problem'>,
  ending?: EndingSoFar,
): number {
  const pause = retryPause(problem === undefined ? requests + 1 : requests - 1)
  const left = ending && !ending.isUrgent ? untilUrgent(ending) : 0
  return left > 0 ? Math.min(pause, left) : pause
}

/** Seconds for which the end of an instance that is gone is kept, since lists may be wrong for long. */
const retention = 7 * 86_400

/** Whether an ending that is over means nothing any more: long ago, or the instance was started elsewhere since. */
export function isForgotten(
  { endedAt, isStopped }: Ending,
  state: InstanceState | undefined,
  at: number,
): boolean {
  if (endedAt === undefined) return false
  if (isStopped && state !== undefined)
    return !(isAtRest(state) || state === 'stopping' || state === 'destroying')
  return at - endedAt > retention
}

/**
 * Whether an instance has to end again: one that was gone is back, or one that was stopped runs though it's meant to be
 * stopped, as after a restart of its host. A stop is not repeated for one that is at rest.
 */
export function hasReturned(
  { action, endedAt, isStopped }: Ending,
  state: InstanceState | undefined,
): boolean {
  if (endedAt === undefined || state === undefined || state === 'destroying') return false
  if (isStopped) return state === 'stopping'
  return action === 'destroy' || !(isAtRest(state) || state === 'stopping')
}

/** A 404 that says nothing about the key. */
export function isNoSuchInstance(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 404 && !error.keyRefused
}
