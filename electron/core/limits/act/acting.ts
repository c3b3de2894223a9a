import { isTrying } from '#contract/automation/attempts.ts'
import type { AccountView } from '#contract/state.ts'
import type { AccountContext } from '#core/account-context.ts'
import { limitDoneAlert, limitFailedAlert } from '../alerts/alerts.ts'
import type { LimitAlerts } from '../alerts/limit-alerts.ts'
import { whatHappened } from '../alerts/words.ts'
import type { LimitTarget } from '../decide/choose-targets.ts'
import type { LimitDecision } from '../decide/limit-actions.ts'
import type { Facts } from '../facts/facts.ts'
import { withTargets } from '../model.ts'
import type { StoredLimits } from '../stored-limits.ts'
import { type BeforeLimit, carryOut } from './carry-out.ts'
import { limitAfterActing } from './outcomes.ts'

/** What acting works with, apart from the account. */
export interface ActingParts {
  limits: StoredLimits
  /** The series of attempts that an instance was rented for. */
  ownerOf: (instance: number) => string | undefined
  /** Awaited before anything is stopped or destroyed. */
  before: BeforeLimit
}

/** Acting of limits: first stored, then requested, then reported. */
export interface Acting {
  /** Limits with pending requests. */
  readonly busy: ReadonlySet<string>
  /** Instances acted on so recently that the service may still show their old state. */
  acted(): ReadonlySet<number>
  /** Forgets instances that a poll shows as not running, and those acted on more than `gap` seconds ago. */
  onPoll(instances: AccountView['instances'], at: number, gap: number): void
  act(decision: Act, facts: Facts, at: number): Promise<void>
}

type Act = Extract<LimitDecision, { kind: 'act' }>

/** `show` is called whenever a limit begins or stops acting. */
export function createActing(
  { account, store, client, ending, now, poll }: AccountContext,
  { limits, ownerOf, before }: ActingParts,
  { alert, note, scene }: LimitAlerts,
  show: () => void,
): Acting {
  const busy = new Set<string>()
  const acted = new Map<number, number>()

  /** Not while a series of attempts runs, which drops its own instance once a limit has recorded that it acts on it. */
  function mayActOn({ instance }: LimitTarget): boolean {
    const attemptSeries = store.get().accounts[account]?.attempts[ownerOf(instance) ?? '']
    return !attemptSeries || !isTrying(attemptSeries)
  }

  /** Returns whether there is a result to report. */
  async function ask({ limit: due, dueAt, late, targets }: Act, facts: Facts): Promise<boolean> {
    const wanted = () => limits.find(due.id)?.begunAt !== undefined
    const out = await carryOut(targets.filter(mayActOn), { client, before, ending, wanted })
    const end = now()
    if (ending.aborted || (out.done.length === 0 && !out.problem)) return false
    for (const { instance } of out.done) acted.set(instance, end)
    const limit = limits.find(due.id)
    if (limit) await limits.put(limitAfterActing(limit, out, facts, end))
    if (out.problem && !limit?.failures) alert(limitFailedAlert(scene(end), due, out.problem))
    else if (!out.problem) alert(limitDoneAlert(scene(end), due, out.done, late ? { dueAt } : undefined))
    else if (out.done.length > 0) note('berth', whatHappened(out.done, facts.account.instances))
    return true
  }

  return {
    busy,
    acted: () => new Set(acted.keys()),
    onPoll(instances, at, gap) {
      for (const [instance, when] of acted)
        if (instances[instance]?.state !== 'running' || Math.abs(at - when) > gap) acted.delete(instance)
    },
    async act(decision, facts, at) {
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
