import type { RunRequest } from '../../../../electron/contract/automation/run.ts'
import type { OfferView, SavedQuery } from '../../../../electron/contract/market/offer.ts'
import type { RentRequest } from '../../../../electron/contract/market/rental.ts'
import type { TemplateView } from '../../../../electron/contract/market/template.ts'
import type { StoredSecrets } from '../../../features/market/rentForm.ts'

/** What a rent dialog is opened with. */
export interface RentSubject {
  offer: OfferView
  /** GB that the offer’s price includes; without it, the disk of `request`. */
  pricedDisk?: number
  interruptible: boolean
  /** The template that was chosen beforehand. */
  template?: TemplateView
  /** How an earlier machine was rented, to fill the dialog with. */
  request?: Omit<RentRequest, 'offer'>
  /** What the offer was found with. */
  search?: SavedQuery
  /** The instance that is destroyed first. */
  replaces?: number
  /** How it is rented, where that is not this one offer. */
  otherwise?: Otherwise
  /** The bid to begin with, dollars per hour; without it, just above the lowest. */
  bid?: string
  /** Where it is rented later, on a machine that nobody knows yet. */
  later?: RentLater
}

/** What a rental that waits for its machine begins with. */
export interface RentLater extends StoredSecrets {
  /** Dollars per hour. */
  bid: string
}

/** Another way to rent what the dialog was filled in with. */
export interface Otherwise {
  /** Whether it may be sent; what is wrong is told where it was typed. */
  check(): boolean
  send(request: RentRequest, run: RunRequest | undefined): Promise<unknown>
}
