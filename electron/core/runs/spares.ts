import type { GuardAction } from '../../contract/automation/guard.ts'
import { isGoing } from '../../contract/automation/run.ts'
import type { InstanceState, InstanceView } from '../../contract/instance/instance.ts'
import { hasTrait } from '../../contract/instance/state-traits.ts'
import type { Target } from '../guards/decide/choose-targets.ts'
import type { Run } from './model.ts'
import type { RunAlerts } from './run-alerts.ts'

/** Whether a folder of its instance is still to be fetched, or could not be: it would be lost with the instance. */
export function isUnsafe(run: Run): boolean {
  if (run.fetch === undefined || run.fetched || run.step === 'waiting') return false
  return isGoing(run) || run.step === 'kept'
}

/**
 * What a guard that destroys may do to an instance with a folder that is not here yet. While that is being fetched the
 * guard waits; else it stops what runs, which keeps the folder and ends most of the cost. What is stopped is kept:
 * undefined.
 */
export function spared(unsafe: readonly Run[], state: InstanceState | undefined): GuardAction | undefined {
  if (unsafe.length === 0) return 'destroy'
  if (unsafe.some(({ step, unreachedSince }) => step === 'fetching' && unreachedSince === undefined))
    return undefined
  return state && hasTrait(state, 'halted') ? undefined : 'stop'
}

/** What a guard may do to an instance with those runs; said, where that is less than it wants. */
export function spares(
  { instance, action }: Target,
  runs: readonly Run[],
  view: InstanceView | undefined,
  note: RunAlerts['note'],
): GuardAction | undefined {
  if (action === 'stop') return 'stop'
  const unsafe = runs.filter(run => run.instance === instance && isUnsafe(run))
  const may = spared(unsafe, view?.state)
  const [first] = unsafe
  if (may === 'stop' && first)
    note(first, 'A guard stops rather than destroys', `${first.fetch} of ${first.name} is not fetched yet.`)
  return may
}
