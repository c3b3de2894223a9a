import type { RentalView } from '../../../contract/market/rental.ts'
import { BerthError } from '../../../contract/problem.ts'
import { present } from '../../state/present.ts'
import type { Document } from '../../storage/json-file.ts'
import { isUnderWay, type Rental } from './rental.ts'

/** What may be changed of a rental; a field that is given as undefined goes. */
export type RentalChange = { [Field in keyof Rental]?: Rental[Field] | undefined }

/** The rentals of one account, as they are remembered. */
export interface RentalBook {
  all(): readonly Rental[]
  find(id: string): Rental | undefined
  /** Throws `no_such_rental`. */
  existing(id: string): Rental
  /** Resolves once it is on disk; rejects with `not_written` where it cannot be, and then it is not in the book. */
  add(rental: Rental): Promise<void>
  /** The same for a change that must be on disk before something is done. */
  intend(id: string, change: RentalChange): Promise<Rental>
  /** Writes down what has happened, on disk where that is possible. Never rejects because of it. */
  update(id: string, change: RentalChange): Promise<Rental>
}

/** Rentals remembered after their end, for renting again. */
const mostEnded = 200

/** `changed` is called after every change. */
export function openBook(document: Document<Rental[]>, changed: () => void): RentalBook {
  const all = () => document.get()
  const find = (id: string) => all().find(rental => rental.id === id)

  function existing(id: string): Rental {
    const rental = find(id)
    if (!rental)
      throw new BerthError({ code: 'no_such_rental', message: 'That rental is no longer on the list.' })
    return rental
  }

  const changing = (id: string, change: RentalChange) => (rentals: Rental[]) =>
    rentals.map(rental => (rental.id === id ? (present({ ...rental, ...change }) as Rental) : rental))

  return {
    all,
    find,
    existing,
    async add(rental) {
      await document.write(rentals => [...prune(rentals), rental])
      changed()
    },
    async intend(id, change) {
      await document.write(changing(id, change))
      changed()
      return existing(id)
    },
    async update(id, change) {
      const recorded = document.record(changing(id, change))
      changed()
      await recorded
      return existing(id)
    },
  }
}

function prune(rentals: readonly Rental[]): Rental[] {
  const ended = rentals.filter(rental => !isUnderWay(rental))
  const dropped = new Set(ended.slice(0, Math.max(0, ended.length - mostEnded)).map(({ id }) => id))
  return rentals.filter(({ id }) => !dropped.has(id))
}

/**
 * The rentals that the page shows: those under way, and those that failed with nothing to show for it. A try is shown
 * by its failover.
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

/** What was rented last and came to be, to be rented again. */
export function lastRental(rentals: readonly Rental[]): { id: string; what: string } | undefined {
  const last = rentals.findLast(({ instance, unwanted }) => instance !== undefined && !unwanted)
  if (!last) return undefined
  const { id, request, offer } = last
  return { id, what: request.label || request.template?.name || offer.gpuName || request.image }
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
    ...(instance === undefined ? {} : { instance }),
    ...(request.template ? { template: request.template.name } : {}),
    ...(request.label ? { label: request.label } : {}),
    ...(candidates ? { candidates } : {}),
    ...(problem ? { problem } : {}),
  }
}
