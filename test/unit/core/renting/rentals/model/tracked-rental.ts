import type { OneBerth } from '../../../plain-service/one-berth.ts'
import { PlainRental } from './plain-rental.ts'

/** One renting that a user asked for, and all that is known of it from outside. */
export interface TrackedRental {
  berth: number
  offer: number
  /** Its id and mark. */
  id: string
  secret: string
  /** What the page was told, when it was: that it is on disk. */
  promised: boolean
  /** Whether the user has asked to cancel it, and whether that was accepted. */
  cancel: 'no' | 'asked' | 'accepted'
  /** How often the service was asked to create it; of those, plainly refused. */
  creates: number
  refusals: number
  /** The user said that none of the candidates is the one. */
  none: boolean
  /** Its instance was destroyed elsewhere. */
  taken: boolean
  /** Instances that are its own beyond a guess: the service or the user has said so, or the user saw them before cancelling. */
  told: Set<number>
  /** Fresh answers that its Berth had since it last asked the service to create it. */
  pollsSince: number
  /** The process that was told of its creation. */
  heardBy: OneBerth | undefined
  /** Once it is known which instance is its own. */
  plain: PlainRental | undefined
}

export function newTracked(given: Pick<TrackedRental, 'berth' | 'offer' | 'id' | 'secret'>): TrackedRental {
  return {
    ...given,
    promised: false,
    cancel: 'no',
    creates: 0,
    refusals: 0,
    none: false,
    taken: false,
    told: new Set(),
    pollsSince: 0,
    heardBy: undefined,
    plain: undefined,
  }
}

export function plainOf(rental: TrackedRental): PlainRental {
  if (!rental.plain) {
    rental.plain = new PlainRental()
    if (rental.cancel !== 'no') rental.plain.cancelled()
  }
  return rental.plain
}
