import type { Limit } from '../automation/limit.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { OfferView } from './offer.ts'
import type { SavedQuery } from './offer-query.ts'
import type { OpenRequest } from './rent-request.ts'

/**
 * searching: for the next offer. asking: an instance is requested. lost: no answer came, so Berth looks for the instance
 * by polling. unclear: the user must say which instance is its own. waiting: it is created and not running. late: the
 * same after its deadline. entering: it runs, and SSH does not answer yet. dropping: an attempt is being destroyed. ready: the
 * instance can be used. failed and cancelled: nothing is left, unless `instance` names one that is kept.
 */
export type RentalStep =
  | 'searching'
  | 'asking'
  | 'lost'
  | 'unclear'
  | 'waiting'
  | 'late'
  | 'entering'
  | 'dropping'
  | 'ready'
  | 'failed'
  | 'cancelled'

/** An offer as it was when it was rented. */
export interface RentedOffer {
  id: number
  gpuName?: string
  gpuCount?: number
  /** MB per GPU. */
  gpuMemory?: number
  pricePerHour?: Micros
  location?: string
}

/** One machine that was tried, or is. */
export interface AttemptView {
  mark: string
  offer: RentedOffer
  machineId?: number
  instance?: number
  /** Epoch seconds of the account's time. */
  startedAt: number
  /** Why it was dropped. */
  why?: Problem
  /** Its final cost, once its instance is gone. */
  cost?: Micros
}

export interface RentalView {
  id: string
  step: RentalStep
  /** Oldest first; the last one is in progress unless it has a `why`. */
  attempts: readonly AttemptView[]
  /** The most attempts, the cost of dropped ones, and its limit. Absent where its user decides about its only attempt. */
  retries?: { most: number; spent: Micros; ceiling: Micros }
  /** Seconds that an attempt may take. */
  deadline: number
  /** When the present attempt is dropped if its machine can't be entered; account time. Absent where its user decides. */
  givesUpAt?: number
  startedAt: number
  /** When this step began; epoch seconds of the account's time. */
  since: number
  /** Empty for the template's image. */
  image: string
  /** The name of its template. */
  template?: string
  label?: string
  interruptible: boolean
  /** Whether SSH must answer, or running is enough. */
  entered: boolean
  /** The instance of the present try, or the one that is ready, or is kept although the rental failed. */
  instance?: number
  /** A list has shown that this instance is its own. Until then the service has only named it, and may be wrong. */
  isOwn?: true
  /** The instance that it replaces, for a recovery. */
  replaces?: number
  /** A rental with retries was cancelled by the user: its instance is being destroyed. */
  cancelling: boolean
  /** Why it failed or, while it is in progress, why it waits. */
  problem?: Problem
  /** While `unclear`: instances that may belong to it; the user chooses one, or none. */
  candidates?: readonly number[]
}

/** A machine on which a rental failed, or died soon after it ran. It is listed last until it is forgiven. */
export interface FailedMachineView {
  machineId: number
  hostId?: number
  times: number
  /** Epoch seconds of the account's time. */
  lastAt: number
  why: string
}

/** The setup of a successful rental that the user chose. */
export interface PastRental {
  id: string
  /** Its name, else its template, else its GPU. */
  what: string
  offer: RentedOffer
  /** The image's or the template's name, and GB of disk. */
  setup: string
  disk: number
  limits: readonly Limit[]
  /** Without SSH no watchdog could keep its limits, whatever its user chose. */
  withoutSsh?: true | undefined
  /** A command line has rented it, with limits of its own. */
  byCommand?: true | undefined
}

/** Whether the rental is in progress. */
export function isRenting({ step }: Pick<RentalView, 'step'>): boolean {
  return step !== 'ready' && step !== 'failed' && step !== 'cancelled'
}

/** The offer of the last attempt; undefined while none was tried. */
export function offerOf({ attempts }: Pick<RentalView, 'attempts'>): RentedOffer | undefined {
  return attempts.at(-1)?.offer
}

/** What is being rented: `RTX 4090`, else the offer's number; while none was tried, the label. */
export function rentedName(rental: Pick<RentalView, 'attempts' | 'label'>): string {
  const offer = offerOf(rental)
  return offer ? (offer.gpuName ?? `offer ${offer.id}`) : (rental.label ?? 'a GPU')
}

/** The best offer that is as good as the replaced machine, and how to rent it. */
export interface Replacement {
  /** Absent if no present offer is as good. */
  offer?: OfferView
  request: OpenRequest
  /** All conditions for a machine as good, including those that the user dropped for this answer. */
  search: SavedQuery
}
