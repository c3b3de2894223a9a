import type { GuardAction } from '../../contract/automation/guard.ts'
import { isGoing } from '../../contract/automation/run.ts'
import type { InstanceState } from '../../contract/instance/instance.ts'
import type { Run } from './model.ts'

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
  return state === 'stopped' || state === 'stopping' ? undefined : 'stop'
}
