import type { InstanceView } from '#shared/instance/instance.ts'
import type { AttemptView, RentalStep, RentalView } from '#shared/market/rental-view.ts'
import { micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { nothingAsGoodCode } from './messages.ts'
import { type Attempt, isRetrying, openAttempt, type Rental, spentOn } from './rental.ts'

type Instances = Readonly<Record<string, InstanceView>>

/**
 * The rentals that the page shows: those in progress, those that failed and left nothing, and with retries those with
 * more than one attempt, until they are dismissed or their instance is gone. A recovery that finds nothing as good is shown
 * by the recovery.
 */
export function rentalViews(rentals: readonly Rental[], instances: Instances): Record<string, RentalView> {
  const shown = rentals.filter(rental => {
    const { step, attempts, instance, dismissed, problem } = rental
    if (step === 'trying') return true
    if (dismissed || step === 'cancelled' || problem?.code === nothingAsGoodCode) return false
    if (!isRetrying(rental)) return step === 'failed' && instance === undefined
    return step === 'failed' || (attempts.length > 1 && instances[instance ?? ''] !== undefined)
  })
  return Object.fromEntries(shown.map(rental => [rental.id, viewOf(rental, instances)]))
}

/** The last successful rental that the user chose, to rent it again: none of a project, a watch or a recovery. */
export function lastRental(rentals: readonly Rental[]): AccountView['lastRental'] {
  const last = rentals.findLast(rental => {
    const attempt = rental.attempts.at(-1)
    if (rental.why !== 'user' || rental.unwanted || attempt?.instance === undefined || attempt.unwanted)
      return false
    return !isRetrying(rental) || rental.step === 'ready'
  })
  const offer = last?.attempts.at(-1)?.offer
  if (!last || !offer) return undefined
  const { id, request } = last
  return {
    id,
    what: request.label || request.template?.name || offer.gpuName || request.image,
    limits: request.limits ?? [],
  }
}

function viewOf(rental: Rental, instances: Instances): RentalView {
  const { id, request, retries, attempts, startedAt, unwanted, replaces } = rental
  const current = openAttempt(rental)
  const { step, since } = stepOf(rental, current, instances)
  return {
    id,
    step,
    since,
    attempts: attempts.map(attemptView),
    retries: retries && {
      most: retries.attempts,
      spent: spentOn(rental),
      ceiling: micros(retries.ceiling),
    },
    deadline: current?.deadline ?? retries?.deadline ?? 0,
    startedAt,
    image: request.image,
    template: request.template?.name,
    label: request.label || undefined,
    interruptible: request.bid !== undefined,
    entered: retries !== undefined && request.access === 'ssh',
    instance: rental.instance ?? current?.instance,
    replaces,
    cancelling: rental.step === 'trying' && unwanted === true,
    problem: rental.problem ?? current?.problem,
    candidates: current?.step === 'unclear' ? current.candidates : undefined,
  }
}

function attemptView({ mark, offer, startedAt, instance, drop, cost }: Attempt): AttemptView {
  const { machineId, hostId: _, ...shown } = offer
  return { mark, offer: shown, machineId, startedAt, instance, why: drop?.why, cost }
}

function stepOf(
  rental: Rental,
  current: Attempt | undefined,
  instances: Instances,
): { step: RentalStep; since: number } {
  const { step, startedAt, endedAt, attempts, unwanted } = rental
  if (step !== 'trying') return { step, since: endedAt ?? startedAt }
  if (!current) return { step: 'searching', since: attempts.at(-1)?.endedAt ?? startedAt }
  if (isRetrying(rental) && (current.drop || unwanted))
    return { step: 'dropping', since: current.drop?.at ?? current.startedAt }
  const { runningAt, createdAt = current.startedAt, instance } = current
  if (instance === undefined)
    return {
      step: current.step === 'lost' || current.step === 'unclear' ? current.step : 'asking',
      since: current.startedAt,
    }
  if (runningAt !== undefined && instances[instance]?.state === 'running')
    return { step: 'entering', since: runningAt }
  return { step: current.step === 'late' ? 'late' : 'waiting', since: createdAt }
}
