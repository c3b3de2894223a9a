import type { InstanceView } from '#shared/instance/instance.ts'
import type { RentalStep, RentalView, TryView } from '#shared/market/rental-view.ts'
import { micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { isRetrying, openTry, type Rental, spentOn, type Try } from './rental.ts'
import { nothingAsGoodCode } from './words.ts'

type Instances = Readonly<Record<string, InstanceView>>

/**
 * The rentals that the page shows: those in progress, those that failed and left nothing, and with retries those with
 * more than one try, until they are dismissed or their instance is gone. A recovery that finds nothing as good is shown
 * by the recovery.
 */
export function rentalViews(rentals: readonly Rental[], instances: Instances): Record<string, RentalView> {
  const shown = rentals.filter(rental => {
    const { step, tries, instance, dismissed, problem } = rental
    if (step === 'trying') return true
    if (dismissed || step === 'cancelled' || problem?.code === nothingAsGoodCode) return false
    if (!isRetrying(rental)) return step === 'failed' && instance === undefined
    return step === 'failed' || (tries.length > 1 && instances[instance ?? ''] !== undefined)
  })
  return Object.fromEntries(shown.map(rental => [rental.id, viewOf(rental, instances)]))
}

/** The last successful rental that the user chose, to rent it again: none of a project, a watch or a recovery. */
export function lastRental(rentals: readonly Rental[]): AccountView['lastRental'] {
  const last = rentals.findLast(rental => {
    const tried = rental.tries.at(-1)
    if (rental.why !== 'user' || rental.unwanted || tried?.instance === undefined || tried.unwanted)
      return false
    return !isRetrying(rental) || rental.step === 'ready'
  })
  const offer = last?.tries.at(-1)?.offer
  if (!last || !offer) return undefined
  const { id, request } = last
  return {
    id,
    what: request.label || request.template?.name || offer.gpuName || request.image,
    stops: request.stops ?? [],
  }
}

function viewOf(rental: Rental, instances: Instances): RentalView {
  const { id, request, retries, tries, startedAt, unwanted, replaces } = rental
  const current = openTry(rental)
  const { step, since } = stepOf(rental, current, instances)
  return {
    id,
    step,
    since,
    tries: tries.map(tryView),
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

function tryView({ mark, offer, startedAt, instance, drop, cost }: Try): TryView {
  const { machineId, hostId: _, ...shown } = offer
  return { mark, offer: shown, machineId, startedAt, instance, why: drop?.why, cost }
}

function stepOf(
  rental: Rental,
  current: Try | undefined,
  instances: Instances,
): { step: RentalStep; since: number } {
  const { step, startedAt, endedAt, tries, unwanted } = rental
  if (step !== 'trying') return { step, since: endedAt ?? startedAt }
  if (!current) return { step: 'searching', since: tries.at(-1)?.endedAt ?? startedAt }
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
