import type { RentalView } from '#contract/market/rental.ts'
import type { AccountView } from '#contract/state.ts'
import { isUnderWay, type Rental } from './model.ts'

/**
 * The rentals that the page shows: those in progress, and those that failed without an instance. Attempts are shown by
 * their series.
 */
export function rentalViews(rentals: readonly Rental[]): Record<string, RentalView> {
  const shown = rentals.filter(
    rental =>
      rental.owner === undefined &&
      (isUnderWay(rental) ||
        (rental.step === 'failed' && !rental.dismissed && rental.instance === undefined)),
  )
  return Object.fromEntries(shown.map(rental => [rental.id, viewOf(rental)]))
}

/** The last successful rental that the user chose, to rent it again: none of a project, a watch or a recovery. */
export function lastRental(rentals: readonly Rental[]): AccountView['lastRental'] {
  const last = rentals.findLast(
    ({ instance, owner, unwanted }) => instance !== undefined && owner === undefined && !unwanted,
  )
  if (!last) return undefined
  const { id, request, offer } = last
  return {
    id,
    what: request.label || request.template?.name || offer.gpuName || request.image,
    stops: request.stops ?? [],
  }
}

function viewOf(rental: Rental): RentalView {
  const { id, step, instance, offer, request, startedAt, deadline, candidates, problem } = rental
  return {
    id,
    step,
    offer,
    image: request.image,
    interruptible: request.bid !== undefined,
    startedAt,
    deadline,
    instance,
    template: request.template?.name,
    label: request.label || undefined,
    candidates,
    problem,
  }
}
