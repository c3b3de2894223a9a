import { doneWords, reasonSentence } from '#shared/automation/limit-words.ts'
import { atMoment, moment } from '#shared/format/time.ts'
import type { Problem } from '#shared/problem.ts'
import type { Alert } from '../alerts/events.ts'
import {
  blindAlert,
  budgetAlert,
  heldAlert,
  type LimitScene,
  limitDoneAlert,
  missedAlert,
  sparedWords,
  sweepWarningAlert,
  warningAlert,
} from './alerts.ts'
import { type LimitDecision, warnsWithin } from './decide.ts'
import type { Facts } from './facts.ts'
import { costSentence, kindOf, whenFirst } from './limit-due.ts'
import { actsOnce, type StoredLimit, withEvent, withoutWarning } from './model.ts'
import type { LimitTarget } from './targets.ts'

/** A limit's new state after a poll, and its alert; without one, an earlier alert is withdrawn. */
export interface Transition {
  limit: StoredLimit
  alert?: Alert
}

/**
 * The transitions of decisions that need no request. The machines of a sweep stop at about the same moment, so the first
 * warning is that of all `limits` of it which are due to warn in a moment.
 */
export function transitionsOf(
  decisions: readonly LimitDecision[],
  limits: readonly StoredLimit[],
  scene: LimitScene,
): Transition[] {
  const warned = new Set<string>()
  return decisions.flatMap(decision => {
    const sweep = decision.kind === 'warn' ? scene.sweepOf(decision.limit.instance) : undefined
    if (decision.kind !== 'warn' || !sweep) return transitionOf(decision, scene) ?? []
    if (warned.has(sweep.id)) return []
    warned.add(sweep.id)
    const due = limits.flatMap(limit => {
      if (scene.sweepOf(limit.instance)?.id !== sweep.id) return []
      const own = decisions.find(one => one.kind === 'warn' && one.limit.id === limit.id)
      const dueAt = own?.kind === 'warn' ? own.dueAt : warnsWithin(limit, scene.now)
      return dueAt === undefined ? [] : { limit: own?.limit ?? limit, dueAt }
    })
    const alert = sweepWarningAlert(scene, sweep, {
      machines: new Set(due.map(({ limit }) => limit.instance)).size,
      dueAt: Math.min(...due.map(({ dueAt }) => dueAt)),
    })
    return due.map(({ limit, dueAt }, index): Transition => {
      const after = limitWarned(limit, dueAt, scene.now)
      return index === 0 ? { limit: after, alert } : { limit: after }
    })
  })
}

/** The transition of one decision; undefined if nothing changes yet. */
function transitionOf(decision: LimitDecision, scene: LimitScene): Transition | undefined {
  const { limit } = decision
  const { now } = scene
  switch (decision.kind) {
    case 'warn': {
      const { dueAt, targets } = decision
      return { limit: limitWarned(limit, dueAt, now), alert: warningAlert(scene, limit, dueAt, targets) }
    }
    case 'hold':
      return { limit: limitHeld(limit, decision, now), alert: heldAlert(scene, limit, decision) }
    case 'missed':
      return {
        limit: limitMissed(limit, decision.dueAt, now),
        alert: missedAlert(scene, limit, decision.dueAt),
      }
    case 'blind':
      return {
        limit: limitBlind(limit, decision.problem, now),
        alert: blindAlert(scene, limit, decision.problem),
      }
    case 'share':
      return {
        limit: withEvent(limit, now, `Told: ${decision.share}% is spent`),
        alert: budgetAlert(scene, limit, decision),
      }
    case 'sees':
      return { limit: withEvent(limit, now, 'Its GPU load can be read again') }
    case 'calm':
      return { limit: withoutWarning(limit) }
    case 'gone':
      if (limit.begunAt === undefined) return { limit: limitGone(limit, now) }
      return endTransition(limit, scene, 'Ended: its instance is gone')
    default:
      return undefined
  }
}

/**
 * The end of a limit with nothing left to act on. Its own action is reported here if the answer was lost or Berth was
 * killed.
 */
function endTransition(limit: StoredLimit, scene: LimitScene, why: string): Transition {
  const { instance, action, begunAt } = limit
  const ended = { limit: limitOver(limit, scene.now, why) }
  if (begunAt === undefined || instance === undefined) return ended
  return { ...ended, alert: limitDoneAlert(scene, limit, [{ instance, action }], undefined) }
}

/** Seconds until the next try after that many failures in a row. */
export function limitPauseAfter(failures: number): number {
  return Math.min(600, 15 * 2 ** Math.min(failures, 10))
}

export function limitWarned(limit: StoredLimit, dueAt: number, now: number): StoredLimit {
  return withEvent({ ...limit, warnedAt: now }, now, `Warned: due ${atMoment(dueAt, now)}`)
}

export function limitBlind(limit: StoredLimit, { message }: Problem, now: number): StoredLimit {
  return withEvent(limit, now, message)
}

/** `creditStaleSince`: until when the spending is known, if only the credit was not reported. */
export function limitHeld(
  limit: StoredLimit,
  { dueAt, creditStaleSince }: { dueAt: number; creditStaleSince: number | undefined },
  now: number,
): StoredLimit {
  const why =
    creditStaleSince === undefined
      ? 'the service did not answer'
      : `the service hasn’t reported the credit since ${moment(creditStaleSince, now)}`
  return withEvent({ ...limit, heldAt: now }, now, `Due ${atMoment(dueAt, now)}, but ${why}`)
}

export function limitMissed(limit: StoredLimit, dueAt: number, now: number): StoredLimit {
  const noted = withEvent(
    withoutWarning(limit),
    now,
    `Missed: it was due ${atMoment(dueAt, now)}, while Berth wasn’t polling`,
  )
  return actsOnce(limit) ? { ...noted, ended: 'missed' } : { ...noted, passed: true }
}

/** Ends a limit whose instance is gone, until it returns. */
function limitGone(limit: StoredLimit, now: number): StoredLimit {
  return { ...withEvent(withoutWarning(limit), now, 'Ended: its instance is gone'), ended: 'gone' }
}

export function limitBack({ ended: _, ...limit }: StoredLimit, now: number): StoredLimit {
  return withEvent(limit, now, 'Set again: its instance is back')
}

export function limitLost(limit: StoredLimit): StoredLimit {
  return { ...limit, ended: 'over' }
}

/** Seconds for which the limit of an instance that is gone is kept. */
const keptGone = 7 * 86_400

export function isLongGone({ history }: StoredLimit, now: number): boolean {
  return now - (history.at(-1)?.at ?? 0) > keptGone
}

/** Ends a limit that has nothing left to act on: as done if it began to act. */
export function limitOver(limit: StoredLimit, now: number, why: string): StoredLimit {
  const did = limit.begunAt !== undefined
  const text = did ? `Done: ${limit.action === 'stop' ? 'it is stopped' : 'it is destroyed'}` : why
  return { ...withEvent(withoutWarning(limit), now, text), ended: did ? 'done' : 'over' }
}

/** A limit after a fresh reading showed what it did. `isLast`: nothing that it wants is still to be seen. */
export function limitAfterActing(
  limit: StoredLimit,
  done: readonly LimitTarget[],
  facts: Facts,
  now: number,
  isLast: boolean = true,
): StoredLimit {
  const { instances } = facts.account
  const why = reasonSentence(whenFirst(limit, instances[limit.instance ?? '']))
  const did = `${doneWords(done, instances)}. ${why}${sparedWords(limit, done, instances)}`
  const noted = withEvent(limit, now, `${did} ${figures(limit, facts)}`.trim())
  if (!isLast) return noted
  const { idleSince: _, ...calm } = withoutWarning(noted)
  return actsOnce(limit) ? { ...calm, ended: 'done' } : calm
}

/** A limit after a request of it failed, which is repeated in `pause` seconds. */
export function limitAfterFailure(
  limit: StoredLimit,
  problem: Problem,
  now: number,
  pause: number,
): StoredLimit {
  const failures = (limit.failures ?? 0) + 1
  const updated = failures === 1 ? withEvent(limit, now, problem.message) : limit
  return { ...updated, failures, problem, retryAt: now + pause }
}

/** The observed figures, for the limit's history. */
function figures({ when, instance }: StoredLimit, facts: Facts): string {
  const { figureWords } = kindOf(when)
  if (figureWords) return figureWords(when, facts, { instance })
  return costSentence(facts.account.instances[instance ?? ''], facts.at)
}
