import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Problem } from '#contract/problem.ts'
import { isDead } from '#contract/reading.ts'
import { micros } from '#contract/spending/money.ts'
import { deathOf } from '../rentals/decide.ts'
import { isUnderWay, type Rental } from '../rentals/model.ts'
import { noImage, sentenceFor } from '../rentals/words.ts'
import { type Attempt, type AttemptSeries, attemptsCostBy, type Drop, openAttempt, spentOn } from './model.ts'
import { sentences } from './words.ts'

/** What a poll and an SSH probe show about the present attempt. Times as in the series of attempts. */
export interface AttemptSnapshot {
  now: number
  /** The stored rental; undefined if it was lost. */
  rental: Rental | undefined
  /** Its instance in the latest poll. */
  instance: InstanceView | undefined
  /** Whether enough polls in a row lacked the instance. */
  gone: boolean
  ssh: 'unasked' | 'asking' | 'silent' | 'answered'
  /** Berth's own limit that stopped its instance, or will at the next poll. */
  stopper?: Stopper
}

/** A limit that stops an attempt. */
export interface Stopper {
  why: Problem
  /** Whether it limits this instance alone. The next attempt would run without that limit, so there is none. */
  alone: boolean
}

/** The next move of a series of attempts. All except waiting are stored before they have an effect. */
export type AttemptMove =
  /** Searches the market and rents the best offer. */
  | { do: 'search' }
  | { do: 'wait'; until?: number }
  /** Checks whether SSH lets Berth in. */
  | { do: 'probeSsh' }
  /** Stores the drop. */
  | { do: 'drop'; drop: Omit<Drop, 'at'> }
  /** Destroys what the attempt created. */
  | { do: 'take back' }
  /** Stores the final cost of an instance that is gone. */
  | { do: 'close' }
  | { do: 'end'; step: 'ready' | 'failed' | 'cancelled'; problem?: Problem; instance?: number }

/** Seconds that SSH has after `running`, however late that was: its server may only be installed then. */
export const graceForSsh = 180

/** Refusals that every other offer would get, too. */
const hopeless: ReadonlySet<string> = new Set([
  'invalid_args',
  'unauthorized',
  'forbidden',
  'tfa_needed',
  'bad_key',
  'secrets_lost',
])

/** A pure function: the same series and snapshot always give the same move. */
export function nextAttemptMove(series: AttemptSeries, snapshot: AttemptSnapshot): AttemptMove {
  const current = openAttempt(series)
  if (!current) return betweenAttempts(series)
  const { rental } = snapshot
  if (!rental) return { do: 'end', step: 'failed', problem: sentences.forgotten }
  const nothing = rental.step === 'failed' && rental.instance === undefined
  if (current.drop || series.unwanted) {
    if (rental.step === 'cancelled' || nothing) return { do: 'close' }
    return rental.unwanted && isUnderWay(rental) ? { do: 'wait' } : { do: 'take back' }
  }
  switch (rental.step) {
    case 'asking':
    case 'lost':
    case 'unclear':
      return { do: 'wait' }
    case 'waiting':
      return whileBooting(series, current, rental, snapshot)
    case 'late':
      // That somebody else has its GPU is not the machine's fault.
      return rental.problem?.code === 'no_gpu' ? drop(sentences.noGpu, false) : drop(sentences.late, true)
    case 'running':
      return onceRunning(series, current, rental, snapshot)
    case 'failed':
      return nothing ? afterRefusal(rental) : afterFailure(current, rental, snapshot)
    case 'cancelled':
      return { do: 'end', step: 'cancelled' }
  }
}

function betweenAttempts(series: AttemptSeries): AttemptMove {
  const { attempts, limits } = series
  const last = attempts.at(-1)
  if (series.unwanted) return { do: 'end', step: 'cancelled' }
  if (last?.drop?.last) return { do: 'end', step: 'failed', problem: last.drop.why }
  if (attempts.length >= limits.attempts) {
    const crashed = attempts.length > 1 && attempts.every(({ drop }) => drop && isCrash(drop.why))
    const problem = crashed ? sentences.crashedEverywhere : sentences.attemptsUsedUp
    return { do: 'end', step: 'failed', problem }
  }
  if (spentOn(series) >= micros(limits.ceiling))
    return { do: 'end', step: 'failed', problem: sentences.ceiling }
  return { do: 'search' }
}

function whileBooting(
  series: AttemptSeries,
  current: Attempt,
  rental: Rental,
  { now, stopper }: AttemptSnapshot,
): AttemptMove {
  if (stopper) return dropFor(stopper)
  if (isTooDear(series, current, now)) return drop(sentences.ceiling, false, true)
  return { do: 'wait', until: soonest(lateAt(current, rental), tooDearAt(series, current)) }
}

function onceRunning(
  series: AttemptSeries,
  current: Attempt,
  rental: Rental,
  snapshot: AttemptSnapshot,
): AttemptMove {
  const { instance, now, ssh } = snapshot
  if (snapshot.gone) return { do: 'end', step: 'failed', problem: sentences.takenAway }
  if (!instance) return { do: 'wait' }
  if (isDead(instance)) return dropDead(sentenceFor(deathOf(instance)))
  if (instance.state === 'outbid') return drop(sentenceFor('outbid'), false)
  // Nothing ran on it, and a stopped one would cost its disk for nothing.
  if (snapshot.stopper) return dropFor(snapshot.stopper)
  if (instance.state === 'ended') return afterExit(current, rental, snapshot)
  if (hasTrait(instance.state, 'halted')) return keepStopped(instance.id)
  const runs = instance.state === 'running'
  if (runs && (series.request.access !== 'ssh' || ssh === 'answered'))
    return { do: 'end', step: 'ready', instance: instance.id }
  if (isTooDear(series, current, now)) return drop(sentences.ceiling, false, true)
  const late = lateAt({ runningAt: current.runningAt ?? now }, rental)
  if (now >= late) return drop(runs ? sentences.noSsh : sentences.late, true)
  if (runs && ssh !== 'asking') return { do: 'probeSsh' }
  return { do: 'wait', until: soonest(late, tooDearAt(series, current)) }
}

/** When it should have been entered: SSH has its own time after `running`. */
function lateAt({ runningAt }: Pick<Attempt, 'runningAt'>, rental: Rental): number {
  const createdAt = rental.createdAt ?? rental.startedAt
  if (runningAt === undefined) return createdAt + rental.deadline
  // It began to run after its creation, even if a clock was set back in between.
  return Math.max(Math.min(createdAt, runningAt) + rental.deadline, runningAt + graceForSsh)
}

/**
 * It exited, and the service does not say why. It crashed, if Berth was there all the time, since section 3.1 says so
 * and advises the next offer; else somebody may have worked on it and stopped it elsewhere.
 */
function afterExit(current: Attempt, rental: Rental, { now }: AttemptSnapshot): AttemptMove {
  return now < lateAt(current, rental) ? dropDead(sentenceFor('ended')) : keepStopped(rental.instance)
}

/** Nothing was created. An offer that is gone is nobody's fault, so the next one is tried at once. */
function afterRefusal({ problem }: Rental): AttemptMove {
  const why = problem ?? sentenceFor('not_created')
  return drop(why, false, hopeless.has(why.code))
}

function afterFailure(current: Attempt, rental: Rental, snapshot: AttemptSnapshot): AttemptMove {
  const { problem, instance } = rental
  const { stopper } = snapshot
  const why = problem ?? sentenceFor('failed')
  switch (why.code) {
    case 'instance_gone':
      return { do: 'end', step: 'failed', problem: sentences.takenAway }
    case 'stopped':
      return stopper ? dropFor(stopper) : keepStopped(instance)
    case 'ended':
      return stopper ? dropFor(stopper) : afterExit(current, rental, snapshot)
    case 'outbid':
      return drop(why, false)
    default:
      return dropDead(why)
  }
}

function isCrash({ code }: Problem): boolean {
  return code === 'crashed' || code === 'ended'
}

function dropDead(why: Problem): AttemptMove {
  const imageMissing = why.code === noImage
  return drop(why, !imageMissing, imageMissing)
}

function dropFor({ why, alone }: Stopper): AttemptMove {
  return drop(why, false, alone)
}

function keepStopped(instance: number | undefined): AttemptMove {
  const kept = instance === undefined ? {} : { instance }
  return { do: 'end', step: 'failed', problem: sentences.stopped, ...kept }
}

function drop(why: Problem, blame: boolean, last = false): AttemptMove {
  return { do: 'drop', drop: { why, blame, last } }
}

function isTooDear(series: AttemptSeries, current: Attempt, now: number): boolean {
  return spentOn(series) + attemptsCostBy(current, now) >= micros(series.limits.ceiling)
}

/** When the attempts will have reached their cost limit at the present price. */
function tooDearAt(series: AttemptSeries, { spent }: Attempt): number | undefined {
  if (!spent || spent.perHour <= 0) return undefined
  const left = micros(series.limits.ceiling) - spentOn(series) - spent.micros
  return spent.at + (left * 3600) / spent.perHour
}

function soonest(one: number, other: number | undefined): number {
  return other === undefined ? one : Math.min(one, other)
}

/** Updates an attempt from its rental and its instance. */
export function observedAttempt(
  attempt: Attempt,
  rental: Rental,
  instance: InstanceView | undefined,
  now: number,
): Attempt {
  const runningAt = attempt.runningAt ?? (instance?.state === 'running' ? now : undefined)
  return {
    ...attempt,
    ...(rental.instance === undefined ? {} : { instance: rental.instance }),
    ...(instance ? { spent: instance.spent } : {}),
    // So that a clock that was set back does not keep it waiting.
    ...(runningAt === undefined ? {} : { runningAt: Math.min(runningAt, now) }),
  }
}
