import type { Page } from '#renderer/bridge/page.svelte.ts'
import { typedNumber } from '#renderer/components/fields/readForm.ts'
import { whenOf } from '#renderer/features/limits/rentalLimits.ts'
import {
  firstHours,
  type MostCost,
  mostCost,
  onDemandPrice,
  rentalCost,
  trafficOnce,
  withVolume,
} from '#renderer/features/market/cost.ts'
import { highBid } from '#renderer/features/market/offerWords.ts'
import type { RentDraft } from '#renderer/features/market/rentDraft.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { stopperWords } from '#shared/automation/limit-words.ts'
import { stoppersOf } from '#shared/automation/limits-that-block.ts'
import { dangers, type Question, type RentTerms } from '#shared/danger.ts'
import { spendOnceReady } from '#shared/derived.ts'
import { defaultDisk } from '#shared/market/rental-defaults.ts'
import { volumePrice } from '#shared/project/plan-costs.ts'
import { beyondCredit, creditWouldLast } from '#shared/spending/beyond-credit.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { RentSubject } from './rentSubject.ts'

/** The parts of a rental's form that determine its price. */
interface Priced {
  readonly subject: RentSubject
  readonly draft: Pick<RentDraft, 'disk' | 'volume' | 'bid' | 'traffic' | 'limits' | 'recovery' | 'ceiling'>
  readonly interruptible: boolean
  /** How many machines like it are rented. */
  readonly count: number
}

/** The price of a rental as filled in, and warnings about it. */
export class RentalPrice {
  readonly #page: Page
  readonly #rental: Priced

  constructor(page: Page, rental: Priced) {
    this.#page = page
    this.#rental = rental
  }

  /** The bid, dollars per hour; undefined where it is empty or none is needed, NaN where it is no number. */
  readonly #bid = $derived.by(() =>
    this.#rental.interruptible ? typedNumber(this.#rental.draft.bid) : undefined,
  )

  /** Of a new volume; undefined without one, or where its price is unknown. */
  readonly volumePerHour: Micros | undefined = $derived.by(() => {
    const { subject, draft } = this.#rental
    const { mode, name, size, mountPath: at } = draft.volume
    const gigabytes = typedNumber(size) ?? 0
    if (mode !== 'new' || !(gigabytes > 0)) return undefined
    return volumePrice({ name, at, size: gigabytes }, subject.offer)
  })

  /** Undefined while the disk or the bid is no positive number, or the price is unknown. */
  readonly cost = $derived.by(() => {
    const { subject, draft, interruptible } = this.#rental
    const { offer, pricedDisk, request } = subject
    const disk = typedNumber(draft.disk)
    if (disk === undefined || !(disk > 0) || (interruptible && !(Number(this.#bid) > 0))) return undefined
    const one = rentalCost(offer, pricedDisk ?? request?.disk ?? defaultDisk, disk, this.#bid)
    const { count } = this.#rental
    return (
      one && {
        perHour: one.perHour * count,
        diskPerHour: one.diskPerHour === undefined ? undefined : one.diskPerHour * count,
        volumePerHour: this.volumePerHour,
      }
    )
  })

  /** Whether the service does not report the cost. */
  get isUnknown(): boolean {
    const { offer, later } = this.#rental.subject
    return !this.#rental.interruptible && !later && onDemandPrice(offer) === undefined
  }

  /** Why a stop condition would not act; undefined if nothing prevents it. */
  blindness(limits: readonly Limit[]): string | undefined {
    return this.isUnknown && whenOf(limits, 'cost') !== undefined
      ? 'The service doesn’t report its cost, so it can’t be stopped by cost.'
      : undefined
  }

  /** GB of traffic as entered; undefined means the usual amount. */
  readonly expectedTraffic: number | undefined = $derived.by(() => {
    const expected = typedNumber(this.#rental.draft.traffic)
    return expected !== undefined && expected > 0 ? expected : undefined
  })

  /** The cost of the traffic, once; undefined where it has no price. */
  readonly traffic = $derived.by(() => {
    const once = trafficOnce(this.#rental.subject.offer, this.expectedTraffic)
    return once === undefined ? undefined : once * this.#rental.count
  })

  /** The most that it costs until the first of its limits that has a time or an amount; undefined without one. */
  readonly most: MostCost | undefined = $derived.by(() => {
    const { draft, count } = this.#rental
    return this.cost && mostCost(this.highest ?? this.cost, this.traffic, draft.limits, count, this.attempts)
  })

  /** What is shown, for the limits to hold; undefined for a watch, which rents at another price. */
  get shown() {
    const { subject, count } = this.#rental
    const cost = subject.later ? undefined : (this.highest ?? this.cost)
    return cost && { cost, traffic: this.traffic, count }
  }

  /** What machines that are dropped may cost before, in micro-dollars; undefined where none are, or it's no amount. */
  readonly attempts: Micros | undefined = $derived.by(() => this.#rental.subject.otherwise?.attempts?.())

  /** The cost once the bid was raised as far as it may be; undefined where it may not. */
  readonly highest = $derived.by(() => {
    const { draft, interruptible, count } = this.#rental
    const ceiling = typedNumber(draft.ceiling)
    const bid = this.#bid
    if (!interruptible || draft.recovery === 'tell' || !this.cost || !bid || !ceiling || !(ceiling > bid))
      return undefined
    return { ...this.cost, perHour: this.cost.perHour + micros(ceiling - bid) * count }
  })

  /** Micro-dollars per hour of the same on demand, disk included; undefined without a bid, or where it is unknown. */
  readonly onDemand: Micros | undefined = $derived.by(() => {
    const { subject, interruptible, count } = this.#rental
    const price = subject.interruptible ? undefined : onDemandPrice(subject.offer)
    if (!interruptible || price === undefined) return undefined
    return price * count + (this.cost?.diskPerHour ?? 0)
  })

  /** The cost of the first hours, line by line. */
  after(hours: number) {
    return this.cost && firstHours(this.cost, hours, this.traffic)
  }

  /** Seconds that the credit lasts with this rental. */
  readonly creditLasts = $derived.by(() => {
    const { account } = this.#page
    return this.cost && account
      ? creditWouldLast(account.credit, spendOnceReady(account), withVolume(this.cost))
      : undefined
  })

  readonly #terms: RentTerms = $derived.by(() => {
    const { subject, draft } = this.#rental
    const endsAfter = whenOf(draft.limits, 'duration')?.seconds
    return {
      cost: this.cost && { perHour: withVolume(this.cost), once: this.traffic, endsAfter },
      isUnpriced: this.isUnknown && !subject.otherwise,
      bid: draft.bid,
      highBid: this.bidTooHigh,
      meetsLimits: !subject.otherwise,
    }
  })

  /** That the credit would be used up before it stops, or within 8 hours, and when; undefined where it lasts. */
  readonly beyondCredit: string | undefined = $derived.by(() => {
    const { account, accountNow } = this.#page
    return account && this.#terms.cost && beyondCredit(account, this.#terms.cost, accountNow)?.why
  })

  /** The question before it is rented; undefined where nothing says no. */
  readonly question: Question | undefined = $derived.by(() => {
    const { account, accountNow } = this.#page
    return account && dangers.rent.question(account, this.#terms, accountNow)
  })

  /** Whether the bid is below the lowest that runs now: the instance would be created, and wait. */
  readonly bidTooLow = $derived.by(() => {
    const { minimumBid = 0 } = this.#rental.subject.offer
    return this.#bid !== undefined && micros(this.#bid) < minimumBid
  })

  /** A warning about a bid so far above the lowest that it may be mistyped. */
  readonly bidTooHigh = $derived.by(() => {
    const { minimumBid } = this.#rental.subject.offer
    return highBid(this.#bid === undefined ? undefined : micros(this.#bid), minimumBid)
  })

  /** Warnings about limits that would stop it as soon as it runs. */
  readonly stoppers: readonly string[] = $derived.by(() => {
    const { account, accountNow } = this.#page
    const more = this.cost?.perHour ?? (this.isUnknown ? 0 : undefined)
    if (!account || more === undefined) return []
    return stoppersOf(account, { more }, accountNow).map(stopperWords)
  })
}
