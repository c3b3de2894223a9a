import { duration } from '#contract/format/time.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { placeName } from '#contract/market/place.ts'
import { isRenting, type RentalView, type TryView } from '#contract/market/rental-view.ts'
import { bootSteps } from './steps.ts'

/** A rental with retries. */
type Retrying = RentalView & Required<Pick<RentalView, 'retries'>>

/** `Attempt 2 of 5`; while searching, the next one. */
export function tryOf({ tries, retries: { most }, step }: Retrying): string {
  const next = step === 'searching' ? tries.length + 1 : tries.length
  return `Attempt ${Math.min(next, most)} of ${most}`
}

/** `RTX 4090 in Sweden, machine 10012`. */
export function whereTried({ offer, machineId }: TryView): string {
  const { gpuCount, gpuName, location } = offer
  const gpu = `${gpuCount ?? 1} × ${gpuName ?? 'unknown GPU'}`
  const place = location === undefined ? '' : ` in ${placeName(location)}`
  return `${gpu}${place}${machineId === undefined ? '' : `, machine ${machineId}`}`
}

/** What the rental waits for, and for how long. `now`: epoch seconds of the account's time. */
export function waitsFor(rental: RentalView, instance: InstanceView | undefined, now: number): string {
  const for_ = duration(Math.max(0, now - rental.since))
  if (rental.problem && rental.step === 'searching')
    return `${rental.problem.message} ${rental.problem.code === 'held_by_limit' ? (rental.problem.advice ?? '') : 'Tried again at the next poll.'}`
  switch (rental.step) {
    case 'searching':
      return 'looking for the next offer'
    case 'asking':
    case 'lost':
    case 'unclear':
      return `requesting for ${for_}`
    case 'waiting':
    case 'late': {
      const at = instance && bootSteps({ step: 'waiting' }, instance, { now }).find(({ current }) => current)
      return `${at?.name ?? 'created'}, for ${for_} of ${duration(rental.deadline)}`
    }
    case 'entering':
      return rental.entered ? `running, waiting for SSH, for ${for_}` : 'running'
    case 'dropping':
      return rental.cancelling ? 'cancelled, being destroyed' : 'being destroyed'
    default:
      return ''
  }
}

/** The tries that were dropped. */
export function droppedTries({ tries }: RentalView): readonly TryView[] {
  return tries.filter(({ why }) => why !== undefined)
}

/** How a rental has ended; undefined while it is under way. */
export function endWords(rental: Retrying): string | undefined {
  if (isRenting(rental)) return undefined
  if (rental.step === 'ready')
    return `Ready on attempt ${rental.tries.length} of ${rental.retries.most}${rental.entered ? ': SSH answers' : ''}.`
  return [rental.problem?.message, rental.problem?.advice].filter(Boolean).join(' ')
}
