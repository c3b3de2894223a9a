import type { LimitAction } from '#contract/automation/limit.ts'
import { isGoing } from '#contract/automation/run.ts'
import type { InstanceState, InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { LimitTarget } from '../limits/targets.ts'
import type { Run } from './model.ts'
import type { RunAlerts } from './run-alerts.ts'

/** Whether the run's folder is not on this machine yet, and would be lost with the instance. */
export function isUnsafe(run: Run): boolean {
  if (run.fetch === undefined || run.fetched || run.step === 'waiting') return false
  return isGoing(run) || run.step === 'kept' || (run.step === 'failed' && run.startedAt !== undefined)
}

/**
 * What a limit that destroys may do to an instance with such runs. While a folder is being downloaded it waits
 * (undefined); else it stops the instance, which keeps the folder and ends most of the cost, and leaves a stopped one
 * alone (undefined).
 */
export function spared(unsafe: readonly Run[], state: InstanceState | undefined): LimitAction | undefined {
  if (unsafe.length === 0) return 'destroy'
  if (unsafe.some(({ step, unreachedSince }) => step === 'fetching' && unreachedSince === undefined))
    return undefined
  return state && hasTrait(state, 'halted') ? undefined : 'stop'
}

/** What a limit may do to an instance with these runs; noted in Activity if that is less than it was set to. */
export function spares(
  { instance, action }: LimitTarget,
  runs: readonly Run[],
  view: InstanceView | undefined,
  note: RunAlerts['note'],
): LimitAction | undefined {
  if (action === 'stop') return 'stop'
  const unsafe = runs.filter(run => run.instance === instance && isUnsafe(run))
  const may = spared(unsafe, view?.state)
  const [first] = unsafe
  if (may === 'stop' && first)
    note(first, 'A limit stops rather than destroys', `${first.fetch} of ${first.name} is not fetched yet.`)
  return may
}
