import { stoppersOf } from '../../../../electron/contract/automation/stoppers.ts'
import { firstDisk } from '../../../../electron/contract/market/rental.ts'
import { spendOnceReady } from '../../../../electron/contract/reading.ts'
import { micros } from '../../../../electron/contract/spending/money.ts'
import type { Page } from '../../../berth/page.svelte.ts'
import { typedNumber } from '../../../components/fields/numbers.ts'
import { stopperWords } from '../../../features/guards/stopperWords.ts'
import {
  creditWouldLast,
  firstHours,
  onDemandPrice,
  rentalCost,
  trafficOnce,
} from '../../../features/market/cost.ts'
import type { RentDraft } from '../../../features/market/rentDraft.ts'
import { highBid } from '../../../words/highBid.ts'
import type { RentSubject } from './rentSubject.ts'

/** What of a rental being filled in makes its price. */
interface Priced {
  readonly subject: RentSubject
  readonly draft: Pick<RentDraft, 'disk' | 'bid' | 'traffic'>
  readonly interruptible: boolean
}

/** What a rental will cost as it is filled in, and what to say of that. */
export class RentalPrice {
  readonly #page: Page
  readonly #rental: Priced

  constructor(page: Page, rental: Priced) {
    this.#page = page
    this.#rental = rental
  }

  /** Dollars per hour that are bid; undefined where that is no number, or no bid is asked for. */
  readonly #bid = $derived.by(() =>
    this.#rental.interruptible ? typedNumber(this.#rental.draft.bid) : undefined,
  )

  /** Undefined while the disk or the bid is no number, or the price is not known. */
  readonly cost = $derived.by(() => {
    const { subject, draft, interruptible } = this.#rental
    const { offer, pricedDisk, request } = subject
    const disk = typedNumber(draft.disk)
    if (disk === undefined || !(disk > 0) || (interruptible && !(Number(this.#bid) > 0))) return undefined
    return rentalCost(offer, pricedDisk ?? request?.disk ?? firstDisk, disk, this.#bid)
  })

  /** Whether nobody says what it costs: then it is not rented. */
  get isUnknown(): boolean {
    const { offer, otherwise, later } = this.#rental.subject
    return !this.#rental.interruptible && !otherwise && !later && onDemandPrice(offer) === undefined
  }

  /** GB of traffic that were given; undefined where the usual is taken to be. */
  readonly expectedTraffic: number | undefined = $derived.by(() => {
    const expected = typedNumber(this.#rental.draft.traffic)
    return expected !== undefined && expected > 0 ? expected : undefined
  })

  /** What the traffic costs, once; undefined where it has no price. */
  readonly traffic = $derived.by(() => trafficOnce(this.#rental.subject.offer, this.expectedTraffic))

  /** What the first hours come to, line by line. */
  after(hours: number) {
    return this.cost && firstHours(this.cost, hours, this.traffic)
  }

  /** Seconds that the credit lasts with it. */
  readonly creditLasts = $derived.by(() => {
    const { account } = this.#page
    return this.cost && account
      ? creditWouldLast(account.credit, spendOnceReady(account), this.cost.perHour)
      : undefined
  })

  /** True when the bid is below the lowest that runs now: it would be created, and wait. */
  readonly bidTooLow = $derived.by(() => {
    const { minimumBid = 0 } = this.#rental.subject.offer
    return this.#bid !== undefined && micros(this.#bid) < minimumBid
  })

  /** What to say of a bid so far above the lowest that it may be mistyped. */
  readonly bidTooHigh = $derived.by(() => {
    const { minimumBid } = this.#rental.subject.offer
    return highBid(this.#bid === undefined ? undefined : micros(this.#bid), minimumBid)
  })

  /** What to say of the guards that would stop it as soon as it runs. */
  readonly stoppers: readonly string[] = $derived.by(() => {
    const { account, accountNow } = this.#page
    if (!account || !this.cost) return []
    return stoppersOf(account, { more: this.cost.perHour }, accountNow).map(stopperWords)
  })
}
