import {
  type AttemptView,
  type FailoverView,
  isFailingOver,
} from '../../../../electron/contract/automation/failover.ts'
import { duration } from '../../../../electron/contract/format/time.ts'
import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import { placeName } from '../../../../electron/contract/market/place.ts'
import type { Shape } from '../../../words/state.ts'
import { bootSteps } from '../steps.ts'

/** The state of a failover's row as a word and a shape; what it has made ready speaks for itself. */
export function failoverWords({ step, candidates, cancelling }: FailoverView): {
  word: string
  shape: Shape
} {
  if (candidates) return { word: 'Unclear', shape: 'needs-you' }
  if (cancelling) return { word: 'Cancelling', shape: 'busy' }
  if (step === 'failed') return { word: 'Failed', shape: 'broken' }
  if (step === 'ready') return { word: 'Ready', shape: 'running' }
  return { word: step === 'dropping' ? 'Dropping' : 'Renting', shape: 'busy' }
}

/** `Attempt 2 of 5`; before the first one, and between two, the one that comes. */
export function attemptOf({ attempts, most, step }: FailoverView): string {
  const next = step === 'searching' ? attempts.length + 1 : attempts.length
  return `Attempt ${Math.min(next, most)} of ${most}`
}

/** `RTX 4090 in Sweden, machine 10012`. */
export function whereTried({ offer, machineId }: AttemptView): string {
  const { gpuCount, gpuName, location } = offer
  const gpu = `${gpuCount ?? 1} × ${gpuName ?? 'unknown GPU'}`
  const place = location === undefined ? '' : ` in ${placeName(location)}`
  return `${gpu}${place}${machineId === undefined ? '' : `, machine ${machineId}`}`
}

/** What it waits for, and how long it has. Now in epoch seconds of the account's time. */
export function waitsFor(failover: FailoverView, instance: InstanceView | undefined, now: number): string {
  const for_ = duration(Math.max(0, now - failover.since))
  if (failover.problem && failover.step === 'searching')
    return `${failover.problem.message} ${failover.problem.code === 'held_by_guard' ? (failover.problem.advice ?? '') : 'Tried again at the next poll.'}`
  switch (failover.step) {
    case 'searching':
      return 'looking for the next offer'
    case 'renting':
      return `asking for it, for ${for_}`
    case 'booting': {
      const at = instance && bootSteps({ step: 'waiting' }, instance, { now }).find(({ current }) => current)
      return `${at?.name ?? 'created'}, for ${for_} of ${duration(failover.deadline)}`
    }
    case 'entering':
      return failover.entered ? `running, waiting for SSH, for ${for_}` : 'running'
    case 'dropping':
      return failover.cancelling ? 'being destroyed, since it was cancelled' : 'being destroyed'
    default:
      return ''
  }
}

/** The tries that came to nothing. */
export function droppedAttempts({ attempts }: FailoverView): readonly AttemptView[] {
  return attempts.filter(({ why }) => why !== undefined)
}

/** What its end means, once it has ended. */
export function endWords(failover: FailoverView): string | undefined {
  if (isFailingOver(failover)) return undefined
  if (failover.step === 'ready')
    return `Ready on attempt ${failover.attempts.length} of ${failover.most}${failover.entered ? ': SSH answers' : ''}.`
  return [failover.problem?.message, failover.problem?.advice].filter(Boolean).join(' ')
}
