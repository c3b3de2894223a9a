import type { LimitAction } from '#shared/automation/limit.ts'
import { doneWords, reasonSentence } from '#shared/automation/limit-words.ts'
import { atMoment, moment } from '#shared/format/time.ts'
import type { Problem } from '#shared/problem.ts'
import type { AccountContext } from '../account-context.ts'
import type { Alert } from '../alerts/events.ts'
import { problemOf } from '../bridge/problems.ts'
import { type Ending, wantedBy } from '../endings/record.ts'
import {
  blindAlert,
  budgetAlert,
  heldAlert,
  type LimitAlerts,
  type LimitScene,
  limitDoneAlert,
  limitFailedAlert,
  missedAlert,
  sparedWords,
  sweepWarningAlert,
  warningAlert,
} from './alerts.ts'
import { type LimitDecision, warnsWithin } from './decide.ts'
import type { Facts } from './facts.ts'
import { costSentence, kindOf, whenFirst } from './limit-due.ts'
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
  wasAttempted: (instance: number) => boolean
  /** Awaited before anything is stopped or destroyed. */
  before: BeforeLimit
}

/** Acting of limits: first stored, then requested until it is seen, then reported. */
export type Acting = ReturnType<typeof createActing>

type Act = Extract<LimitDecision, { kind: 'act' }>

/** `show` is called whenever a limit begins or stops acting. */
export function createActing(
  { endings, quitting, now, poll }: Pick<AccountContext, 'endings' | 'quitting' | 'now' | 'poll'>,
  { limits, wasAttempted, before }: ActingParts,
  { alert, note, withdraw, scene }: LimitAlerts,
  show: () => void,
  facts: () => Facts,
) {
  const busy = new Set<string>()

  /** Whether a limit acts, and no fresh reading shows the result yet. */
  function isActing(id: string): boolean {
    if (busy.has(id)) return true
    return endings.allPending().some(instance => wantedBy(endings.pending(instance)) === id)
  }

  /** Not while a rental tries it, which drops its own instance once a limit has recorded that it acts on it. */
  function mayActOn({ instance }: LimitTarget): boolean {
    return !wasAttempted(instance)
  }

  /** Has each target stopped or destroyed. Resolves with why one is spared for now. */
  async function request({ limit: { id }, dueAt, late, targets }: Act): Promise<Problem | undefined> {
    let problem: Problem | undefined
    for (const target of targets.filter(mayActOn)) {
      try {
        const action = await before(target)
        if (action === undefined) {
          problem ??= notSaved
          continue
        }
        // The limit may be removed or snoozed while data is saved first.
        if (quitting.aborted || limits.find(id)?.begunAt === undefined) break
        const lateSince = late ? dueAt : undefined
        await endings.begin(target.instance, action, { kind: 'limit', limit: id, lateSince })
      } catch (error) {
        problem ??= problemOf(error)
      }
    }
    return problem
  }

  async function failed(id: string, problem: Problem, pause: number): Promise<void> {
    const limit = limits.find(id)
    if (!limit || limit.begunAt === undefined) return
    const at = now()
    await limits.put(limitAfterFailure(limit, problem, at, pause))
    show()
    if (!limit.failures) alert(limitFailedAlert(scene(at), limit, problem))
  }

  async function ended(id: string, all: readonly Ending[]): Promise<void> {
    const limit = limits.find(id)
    const at = now()
    // It is still pending for other instances.
    const isLast = !isActing(id)
    if (!limit || limit.ended) return
    // After a kill, it may have been requested before.
    const own = limit.begunAt === undefined ? all.filter(({ requests }) => requests > 0) : all
    const done = own.map(({ instance, action, name }) => ({ instance, action, name }))
    if (done.length === 0) {
      if (actsOnce(limit)) await limits.put(limitOver(limit, at, 'Ended: it was already stopped'))
      // Nothing is left that its warning could tell of.
      withdraw(id)
      show()
      return
    }
    await limits.put(limitAfterActing(limit, done, facts(), at, isLast))
    show()
    const late = all.map(({ cause }) => (cause.kind === 'limit' ? cause.lateSince : undefined)).find(Boolean)
    if (quitting.aborted) return
    const present = scene(at)
    const told = limitDoneAlert(present, limit, done, late === undefined ? undefined : { dueAt: late })
    // Of a sweep, its own end is alerted.
    if (present.sweepOf(limit.instance)) note('berth', told.title, told.body, limit.instance)
    else alert(told)
  }

  endings.follow({
    async ended(all) {
      for (const id of new Set(all.map(wantedBy)))
        if (id !== undefined)
          await ended(
            id,
            all.filter(one => wantedBy(one) === id),
          )
    },
    failed(one, problem, pause) {
      const id = wantedBy(one)
      if (id !== undefined) void failed(id, problem, pause)
    },
  })

  return {
    /** Limits that are about to act. */
    busy,
    isActing,
    /** Instances that are being stopped or destroyed. */
    acted: (): ReadonlySet<number> => new Set(endings.allPending()),
    /** The list shows nothing left to act on: it is over once the instance's own record agrees, else it acts. */
    confirm({ id, instance, action }: StoredLimit): void {
      if (instance !== undefined) void endings.begin(instance, action, { kind: 'limit', limit: id })
    },
    async act(decision: Act, at: number): Promise<void> {
      const { limit, targets } = decision
      busy.add(limit.id)
      try {
        await limits.put(withTargets({ ...limit, begunAt: at }, targets))
        show()
        const problem = await request(decision)
        if (problem && !quitting.aborted)
          await failed(limit.id, problem, limitPauseAfter((limit.failures ?? 0) + 1))
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

const notSaved: Problem = {
  code: 'not_saved',
  message: 'Its files are not saved yet, so the instance is kept.',
}

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
