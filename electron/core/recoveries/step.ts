import type { Instance } from '#service/instances.ts'
import { ServiceError } from '#service/service-error.ts'
import { bidWithin } from '#shared/automation/bid.ts'
import type { RecoveryStep, RecoveryView } from '#shared/automation/recovery.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import { rentalOf, replacesVariable } from '../instances/mark.ts'
import { aboveCeiling, unknownMinimum } from './messages.ts'
import type { Recovery } from './record.ts'

/** A recovery's next move after a poll. */
export type RecoveryMove =
  | { do: 'nothing' }
  /** Its pause is not over. */
  | { do: 'wait'; until: number }
  /** Micro-dollars per hour. Also to lower a bid that the service made higher than asked for. */
  | { do: 'raise'; bid: Micros }
  | { do: 'rent' }
  /** Follows the rental of its replacement. */
  | { do: 'follow' }
  /** A replacement has taken over, so this instance must not restart automatically and cost money twice. */
  | { do: 'stop' }
  /** Nothing is possible within the choice, which is reported once. */
  | { do: 'hold'; why: Problem }

/** A pure function of the stored recovery, the instance and the account's time. */
export function recoveryMove(recovery: Recovery, instance: InstanceView, now: number): RecoveryMove {
  const { choice, lastAt, refused } = recovery
  const { state } = instance
  // Deployments may show an outbid instance as meant to be stopped, and start it again nevertheless.
  const isWanted = state === 'outbid' || (instance.intendedStatus !== 'stopped' && state !== 'stopped')
  if (recovery.by !== undefined) return isWanted ? { do: 'stop' } : { do: 'nothing' }
  if (recovery.rental !== undefined) return { do: 'follow' }
  if (choice.kind === 'tell') return { do: 'nothing' }
  const { pendingBid } = recovery
  // The answer to a raise was lost, or false: the same bid again does not count as another one.
  const again = pendingBid !== undefined
  const isHigher = again && choice.kind === 'raise' && isTooHigh(pendingBid.bid, instance)
  if (instance.state !== 'outbid' && !isHigher) return { do: 'nothing' }
  const moments = [
    ...(lastAt === undefined ? [] : [lastAt + (again ? soonAgain : choice.every)]),
    ...(refused ? [refused.at + refused.wait] : []),
  ]
  const until = Math.max(...moments)
  if (now < until) return { do: 'wait', until }
  if (isHigher) return { do: 'raise', bid: pendingBid.bid }
  if (choice.kind === 'replace') return { do: 'rent' }
  if (instance.minimumBid === undefined) return { do: 'hold', why: unknownMinimum }
  const bid = bidWithin(instance.minimumBid, micros(choice.ceiling))
  return bid === undefined ? { do: 'hold', why: aboveCeiling } : { do: 'raise', bid }
}

/** Whether an instance runs at a higher bid than was asked for. */
function isTooHigh(asked: Micros, { state, bid }: InstanceView): boolean {
  return state !== 'outbid' && bid !== undefined && bid > asked
}

/**
 * Whether a replacement in progress is no longer wanted: the choice has changed, the instance runs again, it was
 * stopped from here, or another Berth has an older one than `mine`.
 */
export function isNeedless(
  { choice }: Recovery,
  instance: InstanceView,
  mine: Instance | undefined,
  other: Instance | undefined,
): boolean {
  if (choice.kind !== 'replace' || instance.state === 'running') return true
  if (instance.state === 'stopped' && instance.stateRequest?.state === 'stopped') return true
  return other !== undefined && givesWay(mine, other)
}

/** Seconds until a raise that the service refused temporarily, or carried out wrongly, is tried again. */
const soonAgain = 30
/** Seconds for which a bid that is higher than asked for is lowered; then the price as told counts. */
const insists = 600
/** The same where it refused the key, which is rarely temporary. */
const keyAgain = 300

/**
 * Seconds until a failed raise is tried again, regardless of the pause between raises: a temporary refusal, as by a
 * busy service, is no raise. Undefined for a lasting refusal.
 */
export function refusedFor(error: unknown): number | undefined {
  if (!(error instanceof ServiceError) || error.ambiguous) return undefined
  const { status, retryAfter = 0 } = error
  if (status === 401 || status === 403) return keyAgain
  return status === 0 || status === 429 || status >= 500 ? Math.max(soonAgain, retryAfter) : undefined
}

/** The recovery after a poll: raises that had an effect, money that was added, a clock that was set back. */
export function observedRecovery(recovery: Recovery, instance: InstanceView, now: number): Recovery {
  const confirmed = confirmedRaise(recovery, instance)
  const { pendingBid: _, hindrance, refused, ...rest } = confirmed
  const { pendingBid: asked } = confirmed
  const insisting = asked && isTooHigh(asked.bid, instance) && now - asked.at < insists
  const hasConfirmed = instance.state !== 'outbid' && instance.bid !== undefined && !insisting
  const after: Recovery = {
    ...rest,
    pendingBid: confirmed.pendingBid && !hasConfirmed ? confirmed.pendingBid : undefined,
    // A failure is reported again when it is outbid again.
    hindrance:
      hindrance && (instance.state === 'outbid' || confirmed.by !== undefined) ? hindrance : undefined,
    by: isStartedAgain(confirmed, instance) ? undefined : confirmed.by,
    refused:
      refused && instance.state === 'outbid' ? { ...refused, at: Math.min(refused.at, now) } : undefined,
    ...(confirmed.lastAt === undefined ? {} : { lastAt: Math.min(confirmed.lastAt, now) }),
  }
  return { ...after, addedCost: addedBy(after, instance, now) }
}

/** Whether the user has started it since it was replaced: then both should run. */
function isStartedAgain({ lastAt = 0 }: Recovery, { stateRequest }: InstanceView): boolean {
  return stateRequest?.state === 'running' && stateRequest.at > lastAt
}

/** A bid that is as requested was raised, even if the answer was lost. */
function confirmedRaise(recovery: Recovery, instance: InstanceView): Recovery {
  const { pendingBid, base, own, raises } = recovery
  if (!pendingBid || instance.bid !== pendingBid.bid) return recovery
  const { pendingBid: _, ...rest } = recovery
  // A bid other than Berth's last one is the user's.
  const first = base !== undefined && pendingBid.from === own ? base : pendingBid.from
  return { ...rest, base: first, own: pendingBid.bid, raises: raises + 1 }
}

function addedBy(recovery: Recovery, instance: InstanceView, now: number): Recovery['addedCost'] {
  const { addedCost, base, own } = recovery
  const charged = instance.costPerHour > 0 && instance.costPerHour === instance.pricePerHour
  const raised = base !== undefined && own !== undefined && instance.bid === own
  const perHour = charged && raised ? Math.max(0, own - base) : 0
  if (perHour === addedCost.perHour) return addedCost
  const grown = Math.max(0, Math.floor(((now - addedCost.at) * addedCost.perHour) / 3600))
  return { micros: addedCost.micros + grown, at: now, perHour }
}

/**
 * The oldest replacement for an instance that another Berth on the same account rented. `knows`: whether a rental's
 * mark is this Berth's own.
 */
export function othersReplacement(
  instance: number,
  records: readonly Instance[],
  knows: (mark: string) => boolean,
): Instance | undefined {
  return records
    .filter(record => {
      const env = record.extra_env ?? []
      if (!env.some(([name, value]) => name === replacesVariable && value === String(instance))) return false
      const mark = rentalOf(record.label, env)
      return mark === undefined || !knows(mark)
    })
    .sort(byAge)[0]
}

/**
 * Of two replacements for one instance the older stays, or the lower id if both began at once. The Berth with the
 * younger one sees the older at the first poll after its creation, so it gives way before it is ready.
 */
export function givesWay(mine: Instance | undefined, other: Instance): boolean {
  return mine === undefined || byAge(other, mine) < 0
}

function byAge(a: Instance, b: Instance): number {
  return (a.start_date ?? 0) - (b.start_date ?? 0) || a.id - b.id
}

/** A recovery for the page. `instance` is undefined until the first poll. */
export function recoveryView(
  recovery: Recovery,
  instance: InstanceView | undefined,
  now: number,
): RecoveryView {
  const { choice, raises, addedCost, replacements, replacedCost, by, of, rental, hindrance } = recovery
  return {
    choice,
    ...statusOf(recovery, instance, now),
    problem: hindrance,
    raises,
    addedCost,
    replacements,
    replacedCost,
    by,
    of,
    rental,
  }
}

function statusOf(
  recovery: Recovery,
  instance: InstanceView | undefined,
  now: number,
): { step: RecoveryStep; until?: number } {
  if (recovery.by !== undefined) return { step: 'replaced' }
  if (recovery.rental !== undefined) return { step: 'replacing' }
  if (recovery.pendingBid) return { step: 'raising' }
  const move = instance && recoveryMove(recovery, instance, now)
  if (move?.do === 'wait') return { step: 'waiting', until: move.until }
  return { step: recovery.hindrance ? 'held' : 'watching' }
}
