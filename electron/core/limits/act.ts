import type { LimitAction } from '#contract/automation/limit.ts'
import { doneWords, reasonSentence } from '#contract/automation/limit-words.ts'
import { atMoment, moment } from '#contract/format/time.ts'
import type { Problem } from '#contract/problem.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import type { AccountView } from '#contract/state.ts'
import type { ServiceClient } from '#service/client.ts'
import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../alerts/events.ts'
import { lackedBy, problemOf } from '../app/problems.ts'
import { endInstance } from '../end-instance.ts'
import {
  blindAlert,
  heldAlert,
  type LimitAlerts,
  type LimitScene,
  limitDoneAlert,
  limitFailedAlert,
  missedAlert,
  warningAlert,
} from './alerts.ts'
import type { LimitDecision } from './decide.ts'
import type { Facts } from './facts.ts'
import { kindOf } from './limit-due.ts'
import {
  actsOnce,
  type StoredLimit,
  type StoredLimits,
  withEvent,
  withoutWarning,
  withTargets,
} from './model.ts'
import type { LimitTarget } from './targets.ts'

/** Dependencies for acting, besides the account. */
export interface ActingParts {
  limits: StoredLimits
  /** Whether a rental with retries tries an instance. */
  isTried: (instance: number) => boolean
  /** Awaited before anything is stopped or destroyed. */
  before: BeforeLimit
}

/** Acting of limits: first stored, then requested, then reported. */
export type Acting = ReturnType<typeof createActing>

type Act = Extract<LimitDecision, { kind: 'act' }>

/** `show` is called whenever a limit begins or stops acting. */
export function createActing(
  { client, ending, now, poll }: AccountContext,
  { limits, isTried, before }: ActingParts,
  { alert, note, scene }: LimitAlerts,
  show: () => void,
) {
  const busy = new Set<string>()
  const acted = new Map<number, number>()

  /** Not while a rental tries it, which drops its own instance once a limit has recorded that it acts on it. */
  function mayActOn({ instance }: LimitTarget): boolean {
    return !isTried(instance)
  }

  /** Returns whether there is a result to report. */
  async function ask({ limit: due, dueAt, late, targets }: Act, facts: Facts): Promise<boolean> {
    const hasBegun = () => limits.find(due.id)?.begunAt !== undefined
    const out = await carryOut(targets.filter(mayActOn), { client, before, ending, wanted: hasBegun })
    const end = now()
    if (ending.aborted || (out.done.length === 0 && !out.problem)) return false
    for (const { instance } of out.done) acted.set(instance, end)
    const limit = limits.find(due.id)
    if (limit) await limits.put(limitAfterActing(limit, out, facts, end))
    if (out.problem && !limit?.failures) alert(limitFailedAlert(scene(end), due, out.problem))
    else if (!out.problem) alert(limitDoneAlert(scene(end), due, out.done, late ? { dueAt } : undefined))
    else if (out.done.length > 0) note('berth', doneWords(out.done, facts.account.instances))
    return true
  }

  return {
    /** Limits with pending requests. */
    busy,
    /** Instances acted on so recently that the service may still show their old state. */
    acted: (): ReadonlySet<number> => new Set(acted.keys()),
    /** Forgets instances that a poll shows as not running, and those acted on more than `gap` seconds ago. */
    onPoll(instances: AccountView['instances'], at: number, gap: number): void {
      for (const [instance, when] of acted)
        if (instances[instance]?.state !== 'running' || Math.abs(at - when) > gap) acted.delete(instance)
    },
    async act(decision: Act, facts: Facts, at: number): Promise<void> {
      const { limit, targets } = decision
      busy.add(limit.id)
      try {
        await limits.put(withTargets({ ...limit, begunAt: at }, targets))
        show()
        if (!(await ask(decision, facts))) return
      } finally {
        busy.delete(limit.id)
        show()
      }
      void poll()
    },
  }
}

/**
 * Called before a limit stops or destroys: returns the permitted action, which is to stop if data would be lost
 * otherwise. Undefined keeps the instance for now, and the limit tries again later.
 */
export type BeforeLimit = (target: LimitTarget) => Promise<LimitAction | undefined>

/** The result: the targets that are done, and why others are not. */
export interface CarriedOut {
  done: readonly LimitTarget[]
  problem?: Problem
}

/**
 * Stops and destroys, one after another. Both can be repeated: an instance that is gone counts as done, anyone who ended
 * it. A failure does not keep the others from their turn.
 */
export async function carryOut(
  targets: readonly LimitTarget[],
  context: {
    client: () => ServiceClient
    before: BeforeLimit
    ending: AbortSignal
    /** Whether the limit still wants it: it may be removed or snoozed while data is saved first. */
    wanted: () => boolean
  },
): Promise<CarriedOut> {
  const done: LimitTarget[] = []
  let problem: Problem | undefined
  for (const target of targets) {
    try {
      const action = await context.before(target)
      if (action === undefined) {
        problem ??= notSaved
        continue
      }
      if (context.ending.aborted || !context.wanted()) break
      const wasThere = await endInstance(context.client(), target.instance, action, context.ending)
      done.push(wasThere ? { ...target, action } : target)
    } catch (error) {
      problem ??= lackedBy(error, 'instance_write') ?? problemOf(error)
    }
  }
  return { done, problem }
}

const notSaved: Problem = {
  code: 'not_saved',
  message: 'Its files are not saved yet, so the instance is kept.',
}

/** A limit's new state after a poll, and its alert; without one, an earlier alert is withdrawn. */
export interface Transition {
  limit: StoredLimit
  alert?: Alert
}

/** The transition of a decision that needs no request. Undefined if nothing changes yet. */
export function transitionOf(decision: LimitDecision, scene: LimitScene): Transition | undefined {
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
    case 'sees':
      return { limit: withEvent(limit, now, 'Its GPU load can be read again') }
    case 'calm':
      return { limit: withoutWarning(limit) }
    case 'over':
      return endTransition(limit, scene, 'Ended: it was already stopped')
    case 'gone':
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

/** Ends a limit that has nothing left to act on: as done if it began to act. */
export function limitOver(limit: StoredLimit, now: number, why: string): StoredLimit {
  const did = limit.begunAt !== undefined
  const text = did ? `Done: ${limit.action === 'stop' ? 'it is stopped' : 'it is destroyed'}` : why
  return { ...withEvent(withoutWarning(limit), now, text), ended: did ? 'done' : 'over' }
}

/** A limit after it acted, or tried to. */
export function limitAfterActing(
  limit: StoredLimit,
  { done, problem }: CarriedOut,
  facts: Facts,
  now: number,
): StoredLimit {
  const happened = done.length > 0 ? doneWords(done, facts.account.instances) : undefined
  const noted = happened
    ? withEvent(limit, now, `${happened}. ${reasonSentence(limit.when)} ${figures(limit, facts)}`.trim())
    : limit
  if (problem) {
    const failures = (limit.failures ?? 0) + 1
    const updated = failures === 1 ? withEvent(noted, now, problem.message) : noted
    return { ...updated, failures, problem, retryAt: now + limitPauseAfter(failures) }
  }
  const { idleSince: _, ...calm } = withoutWarning(noted)
  return actsOnce(limit) ? { ...calm, ended: 'done' } : calm
}

/** The observed figures, for the limit's history. */
function figures({ when, instance }: StoredLimit, facts: Facts): string {
  const { figureWords } = kindOf(when)
  if (figureWords) return figureWords(when, facts)
  const one = facts.account.instances[instance ?? '']
  return one ? `It cost ${costOf([one])}.` : ''
}
