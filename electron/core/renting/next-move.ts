import type { LimitAction } from '#shared/automation/limit.ts'
import { isDead } from '#shared/derived.ts'
import { type InstanceView, startFailure } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import { micros } from '#shared/spending/money.ts'
import { dearerThanConfirmed, noImageCode, sentenceFor, sentences } from './messages.ts'
import {
  type Abandonment,
  type Attempt,
  costOfAttempt,
  isUnderWay,
  openAttempt,
  type RentalAttempt,
  type Retrying,
  rentedAs,
  spentOn,
} from './rental.ts'

/** The cause of death of an instance, for `sentenceFor`: an image that cannot be pulled is not the machine's fault. */
export function deathOf({ state, statusMessage }: InstanceView): string {
  return state === 'unstartable' && startFailure(statusMessage) === 'image' ? noImageCode : state
}

/**
 * The next step of a created try after a poll: still waiting, running, late, or failed. `instance` is undefined if
 * the answer lacks it; `now` is the account's time in epoch seconds.
 */
export function nextTryStep(
  attempt: Attempt,
  instance: InstanceView | undefined,
  now: number,
): { step: Attempt['step']; problem?: Problem } {
  if (!instance)
    return { step: 'failed', problem: endedByLimit(attempt, 'destroy', now) ?? sentenceFor('gone') }
  if (instance.state === 'running') return { step: 'running' }
  if (isDead(instance)) return { step: 'failed', problem: sentenceFor(deathOf(instance)) }
  if (instance.state === 'outbid') return { step: 'failed', problem: sentenceFor('outbid') }
  const { stateRequest, state } = instance
  const neverStarted = attempt.queued && stateRequest?.state !== 'stopped'
  if (hasTrait(state, 'startable') && !neverStarted)
    return { step: 'failed', problem: endedByLimit(attempt, 'stop', now) ?? sentenceFor(state) }
  const waits = state === 'waiting' || hasTrait(state, 'startable')
  const isLate = now - (attempt.createdAt ?? attempt.startedAt) >= attempt.deadline
  if (waits) return { step: isLate ? 'late' : 'waiting', problem: sentenceFor('no_gpu') }
  return isLate ? { step: 'late', problem: sentenceFor('late') } : { step: 'waiting' }
}

/** Seconds by which a watchdog's clock and the account's may differ. */
const slack = 15

/** Why an attempt was ended by the watchdog that came with it, if that may be: it was due. */
function endedByLimit(
  { brought }: Pick<Attempt, 'brought'>,
  action: LimitAction,
  now: number,
): Problem | undefined {
  const isDue = brought?.action === action && brought.at !== undefined && brought.at <= now + slack
  if (!isDue) return undefined
  return action === 'stop' ? sentences.limitStopped : sentences.limitDestroyed
}

/** A new machine is destroyed where its GPUs alone cost more than this many times what was confirmed, its disk included. */
const farDearer = 2
/** Seconds after its request in which nobody can have put anything on it. */
const stillNew = 900

/** Why a new machine is not kept: its price is far above the confirmed one. Smaller rises are told, and held by limits. */
export function tooDearAtFirst(
  attempt: RentalAttempt,
  { pricePerHour = 0, diskPricePerHour = 0 }: Pick<InstanceView, 'pricePerHour' | 'diskPricePerHour'>,
  now: number,
): Problem | undefined {
  const confirmed = rentedAs(attempt).agreed?.running
  const isNew = Math.abs(now - (attempt.askedAt ?? attempt.startedAt)) < stillNew
  if (!isNew || confirmed === undefined || confirmed <= 0) return undefined
  const isFar = pricePerHour - diskPricePerHour > farDearer * confirmed
  return isFar ? dearerThanConfirmed(confirmed, pricePerHour) : undefined
}

/** Facts about the current try from a poll and an SSH probe. */
export interface AttemptSnapshot {
  /** Epoch seconds of the account's time. */
  now: number
  /** Its instance in the latest poll. */
  instance: InstanceView | undefined
  /** Whether enough polls in a row lacked the instance. */
  gone: boolean
  ssh: 'unasked' | 'asking' | 'silent' | 'answered'
  /** Whether the user stopped or destroyed its instance in Berth, as far as it is gone or doesn't run. */
  isByUser?: boolean
  /** Berth's own limit that stopped its instance, or will at the next poll. */
  stopper?: Stopper
}

/** A limit that stops an attempt. */
export interface Stopper {
  why: Problem
  /** Whether it limits this instance alone. The next attempt would run without that limit, so there is none. */
  alone: boolean
}

/** The next move of a rental with retries. All except waiting are stored before they have an effect. */
export type RentalMove =
  /** Searches the market and rents the best offer. */
  | { do: 'search' }
  | { do: 'wait'; until?: number }
  /** Checks whether SSH lets Berth in. */
  | { do: 'probeSsh' }
  /** Stores the drop. */
  | { do: 'drop'; drop: Omit<Abandonment, 'at'> }
  /** Destroys the attempt's instance. */
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

/** A pure function: the same rental and snapshot always give the same move. */
export function nextRentalMove(rental: Retrying, snapshot: AttemptSnapshot): RentalMove {
  const current = openAttempt(rental)
  if (!current) return betweenAttempts(rental)
  const nothing = current.step === 'failed' && current.instance === undefined
  if (current.drop || rental.unwanted) {
    if (current.step === 'cancelled' || nothing) return { do: 'close' }
    return current.unwanted && isUnderWay(current) ? { do: 'wait' } : { do: 'take back' }
  }
  switch (current.step) {
    case 'asking':
    case 'lost':
    case 'unclear':
      return { do: 'wait' }
    case 'waiting':
      return whileBooting(rental, current, snapshot)
    case 'late':
      // That someone else has its GPU is not the machine's fault.
      return current.problem?.code === 'no_gpu' ? drop(sentences.noGpu, false) : drop(sentences.late, true)
    case 'running':
      return onceRunning(rental, current, snapshot)
    case 'failed':
      return nothing ? afterRefusal(current) : afterFailure(rental, current, snapshot)
    case 'cancelled':
      return { do: 'end', step: 'cancelled' }
  }
}

function betweenAttempts(rental: Retrying): RentalMove {
  const { attempts, retries } = rental
  const last = attempts.at(-1)
  if (rental.unwanted) return { do: 'end', step: 'cancelled' }
  if (last?.drop?.last) return { do: 'end', step: 'failed', problem: last.drop.why }
  if (attempts.length >= retries.attempts) {
    const crashed = attempts.length > 1 && attempts.every(({ drop }) => drop && isCrash(drop.why))
    const problem = crashed ? sentences.crashedEverywhere : sentences.attemptsUsedUp
    return { do: 'end', step: 'failed', problem }
  }
  if (spentOn(rental) >= micros(retries.ceiling))
    return { do: 'end', step: 'failed', problem: sentences.ceiling }
  return { do: 'search' }
}

function whileBooting(rental: Retrying, current: Attempt, { now, stopper }: AttemptSnapshot): RentalMove {
  if (stopper) return dropFor(stopper)
  if (isTooDear(rental, current, now)) return drop(sentences.ceiling, false, true)
  return { do: 'wait', until: soonest(lateAt(current), tooDearAt(rental, current)) }
}

function onceRunning(rental: Retrying, current: Attempt, snapshot: AttemptSnapshot): RentalMove {
  const { instance, now, ssh } = snapshot
  if (snapshot.gone) return taken(current, snapshot)
  if (!instance) return { do: 'wait' }
  if (isDead(instance)) return dropDead(sentenceFor(deathOf(instance)))
  if (instance.state === 'outbid') return drop(sentenceFor('outbid'), false)
  // Nothing ran on it, and a stopped one would cost its disk for nothing.
  if (snapshot.stopper) return dropFor(snapshot.stopper)
  if (instance.state === 'ended') return afterExit(rental, current, snapshot)
  if (hasTrait(instance.state, 'halted')) return foundStopped(rental, current, snapshot)
  const runs = instance.state === 'running'
  if (runs && (rental.request.access !== 'ssh' || ssh === 'answered'))
    return { do: 'end', step: 'ready', instance: instance.id }
  if (isTooDear(rental, current, now)) return drop(sentences.ceiling, false, true)
  const late = lateAt({ ...current, runningAt: current.runningAt ?? now })
  if (now >= late) return drop(runs ? noSsh(current.problem) : sentences.late, true)
  if (runs && ssh !== 'asking') return { do: 'probeSsh' }
  return { do: 'wait', until: soonest(late, tooDearAt(rental, current)) }
}

/** When a machine that can't be entered by then is dropped; undefined while there is none. */
export function droppedAt(rental: Retrying, current: Attempt): number | undefined {
  const { step, drop, instance } = current
  if (drop || rental.unwanted || instance === undefined) return undefined
  const isBooting = step === 'waiting' || step === 'running'
  return isBooting ? Math.ceil(soonest(lateAt(current), tooDearAt(rental, current))) : undefined
}

/** Nobody could log in, with the last error. */
function noSsh(last: Problem | undefined): Problem {
  const { code, message } = sentences.noSsh
  return { code, message: last ? `${message} ${last.message}` : message }
}

/** When it should have been entered: SSH has its own time after `running`. */
function lateAt({ runningAt, startedAt, createdAt = startedAt, deadline }: Attempt): number {
  if (runningAt === undefined) return createdAt + deadline
  // It began to run after its creation, even if a clock was set back in between.
  return Math.max(Math.min(createdAt, runningAt) + deadline, runningAt + graceForSsh)
}

/**
 * It exited, and the service does not say why. It crashed, if Berth was there all the time, since section 3.1 says so
 * and advises the next offer; else someone may have worked on it and stopped it elsewhere.
 */
function afterExit(rental: Retrying, current: Attempt, snapshot: AttemptSnapshot): RentalMove {
  return snapshot.now < lateAt(current)
    ? dropDead(sentenceFor('ended'))
    : foundStopped(rental, current, snapshot)
}

/** Nothing was created. An offer that is gone is nobody's fault, so the next one is tried at once. */
function afterRefusal({ problem }: Attempt): RentalMove {
  const why = problem ?? sentenceFor('not_created')
  return drop(why, false, hopeless.has(why.code))
}

function afterFailure(rental: Retrying, current: Attempt, snapshot: AttemptSnapshot): RentalMove {
  const { problem } = current
  const { stopper } = snapshot
  const why = problem ?? sentenceFor('failed')
  switch (why.code) {
    case 'instance_gone':
      return taken(current, snapshot)
    case 'limit_acted':
      if (!snapshot.instance) return taken(current, snapshot)
      return foundStopped(rental, current, snapshot)
    case 'stopped':
      return stopper ? dropFor(stopper) : foundStopped(rental, current, snapshot)
    case 'ended':
      return stopper ? dropFor(stopper) : afterExit(rental, current, snapshot)
    case 'outbid':
      return drop(why, false)
    default:
      return dropDead(why)
  }
}

function isCrash({ code }: Problem): boolean {
  return code === 'crashed' || code === 'ended'
}

function dropDead(why: Problem): RentalMove {
  const imageMissing = why.code === noImageCode
  return drop(why, !imageMissing, imageMissing)
}

function dropFor({ why, alone }: Stopper): RentalMove {
  return drop(why, false, alone)
}

/** It is gone: somebody destroyed it, or its limit did. */
function taken(current: Attempt, { isByUser, now }: AttemptSnapshot): RentalMove {
  const ended = endedByLimit(current, 'destroy', now) ?? sentences.takenAway
  return { do: 'end', step: 'failed', problem: isByUser ? sentences.destroyedByUser : ended }
}

/** Someone stopped it, or its limit. Nothing of a project's run is on it yet, and nobody would know what its disk costs. */
function foundStopped({ why }: Retrying, current: Attempt, { isByUser, now }: AttemptSnapshot): RentalMove {
  const ended = endedByLimit(current, 'stop', now) ?? sentences.stopped
  const problem = isByUser ? sentences.stoppedByUser : ended
  if (why === 'run') return drop(problem, false, true)
  const { instance } = current
  const itsInstance = instance === undefined ? {} : { instance }
  return { do: 'end', step: 'failed', problem, ...itsInstance }
}

function drop(why: Problem, blame: boolean, last = false): RentalMove {
  return { do: 'drop', drop: { why, blame, last } }
}

function isTooDear(rental: Retrying, current: Attempt, now: number): boolean {
  return spentOn(rental) + costOfAttempt(current, now) >= micros(rental.retries.ceiling)
}

/** When the attempts will have reached their cost limit at the present price. */
function tooDearAt(rental: Retrying, { spent }: Attempt): number | undefined {
  if (!spent || spent.perHour <= 0) return undefined
  const left = micros(rental.retries.ceiling) - spentOn(rental) - spent.micros
  return spent.at + (left * 3600) / spent.perHour
}

function soonest(one: number, other: number | undefined): number {
  return other === undefined ? one : Math.min(one, other)
}

/** Facts about an attempt from its instance: its cost, and when it began to run. */
export function observedAttempt(
  { runningAt, spent }: Attempt,
  instance: InstanceView,
  now: number,
): Partial<Attempt> {
  const since = runningAt ?? (instance.state === 'running' ? now : undefined)
  // So that a clock that was set back does not keep it waiting.
  return {
    spent: instance.spent ?? spent,
    ...(since === undefined ? {} : { runningAt: Math.min(since, now) }),
  }
}
