import { type AttemptSeriesView, type AttemptView, isTrying } from '#contract/automation/attempts.ts'
import { duration } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { placeName } from '#contract/market/place.ts'
import type { Shape } from '#renderer/words/state.ts'
import { bootSteps } from '../steps.ts'

/** The state of a series of attempts as a word and a shape. The row of a ready one shows its instance's state. */
export function seriesWords({ step, candidates, cancelling }: AttemptSeriesView): {
  word: string
  shape: Shape
} {
  if (candidates) return { word: 'Unclear', shape: 'needs-you' }
  if (cancelling) return { word: 'Cancelling', shape: 'busy' }
  if (step === 'failed') return { word: 'Failed', shape: 'broken' }
  if (step === 'ready') return { word: 'Ready', shape: 'running' }
  return { word: step === 'dropping' ? 'Dropping' : 'Renting', shape: 'busy' }
}

/** `Attempt 2 of 5`; while searching, the next one. */
export function attemptOf({ attempts, most, step }: AttemptSeriesView): string {
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

/** What the series waits for, and for how long. `now`: epoch seconds of the account's time. */
export function waitsFor(series: AttemptSeriesView, instance: InstanceView | undefined, now: number): string {
  const for_ = duration(Math.max(0, now - series.since))
  if (series.problem && series.step === 'searching')
    return `${series.problem.message} ${series.problem.code === 'held_by_limit' ? (series.problem.advice ?? '') : 'Tried again at the next poll.'}`
  switch (series.step) {
    case 'searching':
      return 'looking for the next offer'
    case 'renting':
      return `asking for it, for ${for_}`
    case 'booting': {
      const at = instance && bootSteps({ step: 'waiting' }, instance, { now }).find(({ current }) => current)
      return `${at?.name ?? 'created'}, for ${for_} of ${duration(series.deadline)}`
    }
    case 'entering':
      return series.entered ? `running, waiting for SSH, for ${for_}` : 'running'
    case 'dropping':
      return series.cancelling ? 'being destroyed, since it was cancelled' : 'being destroyed'
    default:
      return ''
  }
}

/** The attempts that were dropped. */
export function droppedAttempts({ attempts }: AttemptSeriesView): readonly AttemptView[] {
  return attempts.filter(({ why }) => why !== undefined)
}

/** How a series has ended; undefined while it is under way. */
export function endWords(series: AttemptSeriesView): string | undefined {
  if (isTrying(series)) return undefined
  if (series.step === 'ready')
    return `Ready on attempt ${series.attempts.length} of ${series.most}${series.entered ? ': SSH answers' : ''}.`
  return [series.problem?.message, series.problem?.advice].filter(Boolean).join(' ')
}
