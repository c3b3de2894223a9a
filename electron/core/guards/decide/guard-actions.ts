import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Problem } from '#contract/problem.ts'
import type { Facts, GuardSnapshot } from '../facts/facts.ts'
import { kindOf } from '../kinds.ts'
import { actsOnce, type Guard } from '../model.ts'
import { type GuardTarget, targetsOf } from './choose-targets.ts'
import { withIdle } from './idle.ts'
import { creditStaleSince, dueOf } from './moment.ts'

/**
 * A decision about a guard, which includes what the poll showed about it:
 * - `note`: only that;
 * - `blind`: the load that it goes by cannot be read; `sees`: it can again;
 * - `calm`: its moment is no longer near;
 * - `warn`: it will act at `dueAt`, on its present targets;
 * - `unsure`: it is due, but the clock has jumped;
 * - `hold`: it is due, but the facts are stale; `creditStaleSince`: until when spending is known, if only that is old;
 * - `missed`: Berth was not polling at its moment, and it is only to report that;
 * - `act`: on those targets; `late` if Berth was not polling at its moment;
 * - `over`: nothing is left to act on;
 * - `gone`: its instance was not in the answer.
 */
export type GuardDecision =
  | { kind: 'note' | 'sees' | 'calm' | 'unsure' | 'over' | 'gone'; guard: Guard }
  | { kind: 'blind'; guard: Guard; problem: Problem }
  | { kind: 'warn'; guard: Guard; dueAt: number; targets: readonly GuardTarget[] }
  | { kind: 'missed'; guard: Guard; dueAt: number }
  | { kind: 'hold'; guard: Guard; dueAt: number; creditStaleSince: number | undefined }
  | { kind: 'act'; guard: Guard; dueAt: number; late: boolean; targets: readonly GuardTarget[] }

/** Seconds by which a moment must move away before its warning is withdrawn, so that fluctuations do not repeat it. */
const wobble = 300
/** Seconds: longer than any pause between tries, so that a clock that jumped back does not delay a guard. */
const longestPause = 7200

/** The decisions about an account's guards; `now` in epoch seconds of the account's time. Others do nothing. */
export function guardActions(
  snapshot: GuardSnapshot,
  guards: readonly Guard[],
  now: number,
): GuardDecision[] {
  const found: GuardDecision[] = []
  for (const guard of guards) {
    const decision = decide(snapshot, guard, now)
    if (decision) found.push(decision)
  }
  return found
}

function decide(snapshot: GuardSnapshot, before: Guard, now: number): GuardDecision | undefined {
  if (before.ended) return undefined
  const { facts, sure, seenAt, gap } = snapshot
  const unconfirmed = before.instance !== undefined && snapshot.unconfirmed?.has(before.instance) === true
  const fresh = snapshot.fresh && !unconfirmed
  const instance = before.instance === undefined ? undefined : facts.account.instances[before.instance]
  if (before.instance !== undefined && !instance) return fresh ? { kind: 'gone', guard: before } : undefined

  const unseen = seenAt === undefined || now - seenAt > gap
  const load = instance && (instance.gpuLoad ?? facts.loads.get(instance.id)?.load)
  // Without continuous polls it is unknown how long it has been idle.
  const idler = unconfirmed ? undefined : instance
  const guard = snapshot.fresh ? withIdle(before, idler, load, { now, unseen }) : before
  const noted: GuardDecision | undefined = guard === before ? undefined : { kind: 'note', guard }
  const sight = sightOf(guard, facts, now)
  if (sight) return sight
  const dueAt = dueOf(guard, facts)
  const warnsAhead = warningOf(guard)

  if (dueAt === undefined || dueAt - now > warnsAhead + wobble)
    return isCalm(guard) ? noted : { kind: 'calm', guard }
  if (guard.passed) return noted
  if (now < dueAt) {
    // No warning where there is nothing left to stop.
    const targets = targetsOf(guard, snapshot, now)
    const spared = guard.instance !== undefined && targets.length === 0
    if (spared) return isCalm(guard) ? noted : { kind: 'calm', guard }
    const warns = warnsAhead > 0 && dueAt - now <= warnsAhead && guard.warnedAt === undefined
    return warns ? { kind: 'warn', guard, dueAt, targets } : noted
  }
  if (guard.retryAt !== undefined && now < guard.retryAt && guard.retryAt - now < longestPause) return noted
  const hold = (staleSince?: number): GuardDecision | undefined =>
    guard.heldAt === undefined ? { kind: 'hold', guard, dueAt, creditStaleSince: staleSince } : noted
  if (!fresh) return hold()
  if (!sure) return { kind: 'unsure', guard }

  // A load measured before the moment does not prove that it stayed idle until then.
  if (isUnheard(guard, instance, facts, dueAt)) return noted

  const awake = guard.heldAt !== undefined || guard.begunAt !== undefined
  const lastSeen = Math.max(seenAt ?? before.setAt, before.setAt)
  const late = !awake && lastSeen < dueAt && now - lastSeen > gap && now - dueAt > gap
  if (late && guard.missed === 'tell') return { kind: 'missed', guard, dueAt }
  const staleSince = creditStaleSince(guard, facts)
  if (staleSince !== undefined) return hold(staleSince)
  const wanted = targetsOf(guard, snapshot, now)
  const targets = wanted.filter(({ instance: id }) => !snapshot.unconfirmed?.has(id))
  if (wanted.length > targets.length && targets.length === 0) return hold()
  if (targets.length > 0) return { kind: 'act', guard, dueAt, late, targets }
  // It stops once its bid wins, and runs without a limit otherwise.
  if (instance?.state === 'outbid') return isCalm(guard) ? noted : { kind: 'calm', guard }
  return actsOnce(guard) ? { kind: 'over', guard } : noted
}

/** Whether a guard begins or ends to be unable to read the load that it goes by. */
function sightOf(guard: Guard, facts: Facts, now: number): GuardDecision | undefined {
  const { condition, instance = 0, blindSince, ...rest } = guard
  if (condition.kind !== 'idle' || facts.account.instances[instance]?.state !== 'running') return undefined
  const problem = kindOf(condition).blindness(guard, facts)
  if (problem?.code === 'gpu_load_unread')
    return blindSince === undefined
      ? { kind: 'blind', guard: { ...guard, blindSince: now }, problem }
      : undefined
  const sees = problem === undefined && blindSince !== undefined
  return sees ? { kind: 'sees', guard: { ...rest, condition, instance } } : undefined
}

/** Whether the load was read over SSH, and not since the guard became due. */
function isUnheard(
  { condition }: Guard,
  instance: InstanceView | undefined,
  { loads }: Facts,
  dueAt: number,
): boolean {
  if (condition.kind !== 'idle' || !instance || instance.gpuLoad !== undefined) return false
  if (hasTrait(instance.state, 'idle')) return false
  return (loads.get(instance.id)?.at ?? Number.NEGATIVE_INFINITY) < dueAt
}

/** Seconds ahead at which it warns. An idle guard first waits half its time, since short pauses are normal. */
export function warningOf({ condition, warning }: Pick<Guard, 'condition' | 'warning'>): number {
  return condition.kind === 'idle' ? Math.min(warning, condition.seconds / 2) : warning
}

function isCalm(guard: Guard): boolean {
  return (
    guard.warnedAt === undefined &&
    guard.heldAt === undefined &&
    guard.begunAt === undefined &&
    guard.failures === undefined &&
    !guard.passed
  )
}
