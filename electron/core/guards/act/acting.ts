import { isTrying } from '#contract/automation/attempts.ts'
import type { AccountView } from '#contract/state.ts'
import type { AccountContext } from '#core/account-context.ts'
import { guardDoneAlert, guardFailedAlert } from '../alerts/alerts.ts'
import type { GuardAlerts } from '../alerts/guard-alerts.ts'
import { whatHappened } from '../alerts/words.ts'
import type { GuardTarget } from '../decide/choose-targets.ts'
import type { GuardDecision } from '../decide/guard-actions.ts'
import type { Facts } from '../facts/facts.ts'
import { withTargets } from '../model.ts'
import type { StoredGuards } from '../stored-guards.ts'
import { type BeforeGuard, carryOut } from './carry-out.ts'
import { guardAfterActing } from './outcomes.ts'

/** What acting works with, apart from the account. */
export interface ActingParts {
  guards: StoredGuards
  /** The series of attempts that an instance was rented for. */
  ownerOf: (instance: number) => string | undefined
  /** Awaited before anything is stopped or destroyed. */
  before: BeforeGuard
}

/** Acting of guards: first stored, then requested, then reported. */
export interface Acting {
  /** Guards with pending requests. */
  readonly busy: ReadonlySet<string>
  /** Instances acted on so recently that the service may still show their old state. */
  acted(): ReadonlySet<number>
  /** Forgets instances that a poll shows as not running, and those acted on more than `gap` seconds ago. */
  onPoll(instances: AccountView['instances'], at: number, gap: number): void
  act(decision: Act, facts: Facts, at: number): Promise<void>
}

type Act = Extract<GuardDecision, { kind: 'act' }>

/** `show` is called whenever a guard begins or stops acting. */
export function createActing(
  { account, store, client, ending, now, poll }: AccountContext,
  { guards, ownerOf, before }: ActingParts,
  { alert, note, scene }: GuardAlerts,
  show: () => void,
): Acting {
  const busy = new Set<string>()
  const acted = new Map<number, number>()

  /** Not while a series of attempts runs, which drops its own instance once a guard has recorded that it acts on it. */
  function mayActOn({ instance }: GuardTarget): boolean {
    const attemptSeries = store.get().accounts[account]?.attempts[ownerOf(instance) ?? '']
    return !attemptSeries || !isTrying(attemptSeries)
  }

  /** Returns whether there is a result to report. */
  async function ask({ guard: due, dueAt, late, targets }: Act, facts: Facts): Promise<boolean> {
    const wanted = () => guards.find(due.id)?.begunAt !== undefined
    const out = await carryOut(targets.filter(mayActOn), { client, before, ending, wanted })
    const end = now()
    if (ending.aborted || (out.done.length === 0 && !out.problem)) return false
    for (const { instance } of out.done) acted.set(instance, end)
    const guard = guards.find(due.id)
    if (guard) await guards.put(guardAfterActing(guard, out, facts, end))
    if (out.problem && !guard?.failures) alert(guardFailedAlert(scene(end), due, out.problem))
    else if (!out.problem) alert(guardDoneAlert(scene(end), due, out.done, late ? { dueAt } : undefined))
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
      const { guard, targets } = decision
      busy.add(guard.id)
      try {
        await guards.put(withTargets({ ...guard, begunAt: at }, targets))
        show()
        if (!(await ask(decision, facts))) return
      } finally {
        busy.delete(guard.id)
        show()
      }
      void poll()
    },
  }
}
