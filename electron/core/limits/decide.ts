import { fixedMoment } from '#shared/automation/limit.ts'
import type { LastUse } from '#shared/automation/use.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import { isAtRest } from '../endings/step.ts'
import { type Facts, type LimitSnapshot, loadOf } from './facts.ts'
import { kindOf, whenFirst, withShareTold } from './limit-due.ts'
import { actsOnce, type StoredLimit } from './model.ts'
import { type LimitTarget, targetsOf } from './targets.ts'

/**
 * A decision about a limit, including the poll's facts about it:
 * - `note`: only that;
 * - `blind`: the load that it goes by cannot be read; `sees`: it can again;
 * - `calm`: its moment is no longer near;
 * - `warn`: it will act at `dueAt`, on its present targets;
 * - `unsure`: it is due, but the clock has jumped;
 * - `hold`: it is due, but the facts are stale; `creditStaleSince`: until when spending is known, if only that is old;
 * - `missed`: Berth was not polling at its moment, and it is only to report that;
 * - `act`: on those targets; `late` if Berth was not polling at its moment;
 * - `over`: nothing is left to act on, by the list alone;
 * - `gone`: its instance was not in the answer;
 * - `share`: so much of its budget is spent.
 */
export type LimitDecision =
  | { kind: 'note' | 'sees' | 'calm' | 'unsure' | 'over' | 'gone'; limit: StoredLimit }
  | { kind: 'blind'; limit: StoredLimit; problem: Problem }
  | { kind: 'warn'; limit: StoredLimit; dueAt: number; targets: readonly LimitTarget[] }
  | { kind: 'missed'; limit: StoredLimit; dueAt: number }
  | { kind: 'hold'; limit: StoredLimit; dueAt: number; creditStaleSince: number | undefined }
  | { kind: 'act'; limit: StoredLimit; dueAt: number; late: boolean; targets: readonly LimitTarget[] }

  /** A share of a budget is spent, in percent. */
  | ({ kind: 'share' } & ShareTold)

type ShareTold = NonNullable<ReturnType<typeof withShareTold>>

/** Seconds by which a moment must move away before its warning is withdrawn, so that fluctuations do not repeat it. */
const wobble = 300
/** Seconds: longer than any pause between tries, so that a clock that jumped back does not delay a limit. */
const longestPause = 7200

/** The decisions about an account's limits; `now` in epoch seconds of the account's time. Others do nothing. */
export function limitActions(
  snapshot: LimitSnapshot,
  limits: readonly StoredLimit[],
  now: number,
): LimitDecision[] {
  const found: LimitDecision[] = []
  for (const limit of limits) {
    const decision = decide(snapshot, limit, now)
    if (decision) found.push(decision)
  }
  return found
}

function decide(snapshot: LimitSnapshot, before: StoredLimit, now: number): LimitDecision | undefined {
  if (before.ended) return undefined
  const { facts, sure, seenAt, gap } = snapshot
  // It is being ended: what that shows decides.
  if (before.instance !== undefined && snapshot.acted.has(before.instance)) return undefined
  const unconfirmed = before.instance !== undefined && snapshot.unconfirmed?.has(before.instance) === true
  const fresh = snapshot.fresh && !unconfirmed
  const instance = before.instance === undefined ? undefined : facts.account.instances[before.instance]
  if (before.instance !== undefined && !instance) return fresh ? { kind: 'gone', limit: before } : undefined

  const unseen = seenAt === undefined || now - seenAt > gap
  const load = instance && loadOf(instance, facts)
  // Without continuous polls it is unknown how long it has been idle.
  const idler = unconfirmed ? undefined : instance
  const limit = snapshot.fresh
    ? withIdle(before, idler, load, { now, unseen, used: instance && facts.uses.get(instance.id)?.last })
    : before
  const told = snapshot.fresh && limit.begunAt === undefined ? withShareTold(limit, facts) : undefined
  const noted: LimitDecision | undefined = told
    ? { kind: 'share', ...told }
    : limit === before
      ? undefined
      : { kind: 'note', limit }
  const sight = sightOf(limit, facts, now)
  if (sight) return sight
  const dueAt = dueOf(limit, facts)
  const warnsAhead = warningOf(limit)

  if (dueAt === undefined || dueAt - now > warnsAhead + wobble)
    return isCalm(limit) ? noted : { kind: 'calm', limit }
  if (limit.passed) return noted
  if (now < dueAt) {
    // No warning where there is nothing left to stop.
    const targets = targetsOf(limit, snapshot, now)
    const spared = limit.instance !== undefined && targets.length === 0
    if (spared) return isCalm(limit) ? noted : { kind: 'calm', limit }
    const warns = warnsAhead > 0 && dueAt - now <= warnsAhead && limit.warnedAt === undefined
    return warns ? { kind: 'warn', limit, dueAt, targets } : noted
  }
  if (limit.retryAt !== undefined && now < limit.retryAt && limit.retryAt - now < longestPause) return noted
  const hold = (staleSince?: number): LimitDecision | undefined =>
    limit.heldAt === undefined ? { kind: 'hold', limit, dueAt, creditStaleSince: staleSince } : noted
  if (!fresh) return hold()
  if (!sure) return { kind: 'unsure', limit }

  // A load measured before the moment does not prove that it stayed idle until then.
  if (isUnheard(limit, instance, facts, dueAt)) return noted

  const awake = limit.heldAt !== undefined || limit.begunAt !== undefined
  const lastSeen = Math.max(seenAt ?? before.setAt, before.setAt)
  const late = !awake && lastSeen < dueAt && now - lastSeen > gap && now - dueAt > gap
  if (late && limit.missed === 'tell') return { kind: 'missed', limit, dueAt }
  const staleSince = creditStaleSince(limit, facts)
  if (staleSince !== undefined) return hold(staleSince)
  const wanted = targetsOf(limit, snapshot, now)
  const targets = wanted.filter(({ instance: id }) => !snapshot.unconfirmed?.has(id))
  if (wanted.length > targets.length && targets.length === 0) return hold()
  if (targets.length > 0) return { kind: 'act', limit, dueAt, late, targets }
  // Outbid, crashed or without its host it may run again without a start, and the limit then acts.
  if (instance && !isEnding(instance.state)) return isCalm(limit) ? noted : { kind: 'calm', limit }
  return actsOnce(limit) ? { kind: 'over', limit } : noted
}

/** Whether it was stopped or destroyed, or is about to be. */
function isEnding(state: InstanceState): boolean {
  return isAtRest(state) || state === 'stopping' || state === 'destroying'
}

/** Whether a limit begins or ends to be unable to read the load that it goes by. */
function sightOf(limit: StoredLimit, facts: Facts, now: number): LimitDecision | undefined {
  const { when, instance = 0, blindSince } = limit
  if (when.kind !== 'idle' || facts.account.instances[instance]?.state !== 'running') return undefined
  const problem = kindOf(when).blindness(limit, facts)
  if (problem?.code === 'gpu_load_unread')
    return blindSince === undefined
      ? { kind: 'blind', limit: { ...limit, blindSince: now }, problem }
      : undefined
  if (problem !== undefined || blindSince === undefined) return undefined
  const { blindSince: _, ...seeing } = limit
  return { kind: 'sees', limit: seeing }
}

/** Whether the load was read over SSH, and not since the limit became due. */
function isUnheard(
  { when }: StoredLimit,
  instance: InstanceView | undefined,
  { loads }: Facts,
  dueAt: number,
): boolean {
  if (when.kind !== 'idle' || !instance || instance.gpuLoad !== undefined) return false
  if (hasTrait(instance.state, 'idle')) return false
  return (loads.get(instance.id)?.at ?? Number.NEGATIVE_INFINITY) < dueAt
}

/** Seconds ahead at which it warns. An idle limit first waits half its time, since short pauses are normal. */
export function warningOf({ when, warning }: Pick<StoredLimit, 'when' | 'warning'>): number {
  return when.kind === 'idle' ? Math.min(warning, when.seconds / 2) : warning
}

/** When a limit with a fixed moment acts that has not warned and is due to in a moment; undefined for any other. */
export function warnsWithin(limit: StoredLimit, now: number): number | undefined {
  const at = fixedMoment(limit)
  if (at === undefined || limit.ended || limit.warnedAt !== undefined || limit.warning === 0) return undefined
  const dueAt = Math.max(at, limit.snoozedUntil ?? 0)
  return dueAt > now && dueAt - now <= warningOf(limit) + wobble ? dueAt : undefined
}

function isCalm(limit: StoredLimit): boolean {
  return (
    limit.warnedAt === undefined &&
    limit.heldAt === undefined &&
    limit.begunAt === undefined &&
    limit.failures === undefined &&
    !limit.passed
  )
}

/**
 * Updates how long a limit's instance has been idle, as far as polls showed: it starts again when a poll finds it busy
 * or not running, or comes too long after the last (`unseen`), and when somebody last used it. Returns the same limit
 * where nothing changed.
 */
export function withIdle(
  limit: StoredLimit,
  instance: InstanceView | undefined,
  load: number | undefined,
  { now, unseen, used }: { now: number; unseen: boolean; used?: LastUse | undefined },
): StoredLimit {
  if (limit.when.kind !== 'idle') return limit
  const computes = load === undefined || load >= limit.when.below
  const idle =
    instance !== undefined &&
    (hasTrait(instance.state, 'idle') || (instance.state === 'running' && !computes))
  const since = idle ? (unseen ? now : Math.min(limit.idleSince ?? now, now)) : undefined
  // Somebody at work there who needs no GPU.
  if (since !== undefined && used && used.at > since && used.at > (limit.used?.at ?? 0))
    return { ...limit, idleSince: Math.min(used.at, now), used }
  if (since === limit.idleSince) return limit
  const { idleSince: _, ...rest } = limit
  return since === undefined ? rest : { ...rest, idleSince: since }
}

type Moving = Pick<StoredLimit, 'when' | 'instance' | 'idleSince' | 'snoozedUntil' | 'setAt' | 'most'>

/**
 * When the limit acts if nothing changes; past if it is due already, undefined if it would never. Not before it was
 * set, or its snooze is over.
 */
export function dueOf(limit: Moving, facts: Facts): number | undefined {
  const when = whenFirst(limit, facts.account.instances[limit.instance ?? ''])
  const moment = kindOf(when).moment(when, limit, facts)
  // A sum that was shown is raised by an extension, which only postpones what else decides.
  const extended = when === limit.when ? (limit.snoozedUntil ?? 0) : 0
  return moment === undefined ? undefined : Math.max(moment, limit.setAt, extended)
}

/** Until when the spending is known that the limit depends on, if the service does not report the credit now. */
export function creditStaleSince({ when }: Pick<StoredLimit, 'when'>, facts: Facts): number | undefined {
  return kindOf(when).creditStaleSince?.(facts)
}

/**
 * The next moment at which the limit has to warn, act or retry, after `seen`, up to which all is decided; `now` if it
 * has to warn already. `dueAt` is when it acts at present. Epoch seconds of the account's time.
 */
export function nextMoment(
  limit: StoredLimit,
  dueAt: number | undefined,
  now: number,
  seenAt: number,
): number | undefined {
  if (limit.ended || limit.passed) return undefined
  const next = sooner(ahead(dueAt, seenAt), ahead(limit.retryAt, seenAt))
  const warning = warningOf(limit)
  if (dueAt === undefined || dueAt <= now || warning === 0 || limit.warnedAt !== undefined) return next
  return sooner(Math.max(dueAt - warning, now), next)
}

function ahead(moment: number | undefined, seenAt: number): number | undefined {
  return moment !== undefined && moment > seenAt ? moment : undefined
}

function sooner(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}
