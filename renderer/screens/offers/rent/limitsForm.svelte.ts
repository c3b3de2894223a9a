import {
  type FormErrors,
  number,
  readForm,
  typedNumber,
  wrongIn,
} from '#renderer/components/fields/readForm.ts'
import { rate } from '#shared/format/money.ts'
import { count } from '#shared/format/size.ts'
import { RetryLimits } from '#shared/market/rental-bounds.ts'
import { type Micros, micros } from '#shared/spending/money.ts'

/** The limits of a rental with retries, as a form. */
export class LimitsForm {
  attempts = $state('5')
  /** Dollars. */
  ceiling = $state('0.50')
  /** Minutes. */
  deadline = $state('10')
  /** Dollars per hour; only on demand, since a bid is its own limit. */
  price = $state('')
  readonly interruptible: boolean
  #tried = $state(false)

  /** @param began the initial values, in the units of RetryLimits */
  constructor(interruptible: boolean, began: Partial<RetryLimits>) {
    this.interruptible = interruptible
    const { attempts, ceiling, deadline, price } = began
    if (attempts !== undefined) this.attempts = String(attempts)
    if (ceiling !== undefined) this.ceiling = dollars(ceiling)
    if (deadline !== undefined) this.deadline = String(deadline / 60)
    if (price !== undefined) this.price = dollars(price)
  }

  readonly #read = $derived.by(() =>
    readForm(RetryLimits, {
      attempts: number(this.attempts),
      ceiling: number(this.ceiling),
      deadline: number(this.deadline, 60),
      price: this.interruptible ? undefined : number(this.price),
    }),
  )

  /** How many of these prices (micro-dollars per hour) are within the limit. */
  within(prices: readonly (Micros | undefined)[]): number {
    const most = micros(typedNumber(this.price) ?? 0)
    return prices.filter(price => price !== undefined && price <= most).length
  }

  /** Micro-dollars for all attempts; undefined while it's no amount. */
  readonly budget: Micros | undefined = $derived.by(() => {
    const dollars = number(this.ceiling)
    return wrongIn(RetryLimits.entries.ceiling, dollars) === undefined ? micros(dollars) : undefined
  })

  /** The budget's at once, since the price shown counts it in. */
  readonly errors: FormErrors = $derived.by(() => {
    const all = this.#read.errors ?? {}
    const { ceiling } = all
    return this.#tried ? all : ceiling === undefined ? {} : { ceiling }
  })

  /** The limits; undefined while something is wrong. Errors are shown from then on. */
  limits(): RetryLimits | undefined {
    this.#tried = true
    return this.#read.value
  }
}

/** The amount with cents, or with more decimals where it has them. */
function dollars(amount: number): string {
  const cents = amount.toFixed(2)
  return Number(cents) === amount ? cents : String(amount)
}

/** A limit with room above a price (micro-dollars): a quarter more, in dollars, rounded up to the cent. */
export function aQuarterMore(price: Micros): number {
  return Math.ceil((price * 1.25) / 10_000) / 100
}

/** How many offers are within the price limit; where none is, the price of the cheapest, if any is known. */
export function withinWords(cheap: number, many: number, cheapest: Micros | undefined): string {
  if (cheap > 0) return `${count(cheap)} of ${count(many)} ${cheap === 1 ? 'cost' : 'cost'} at most that`
  return cheapest === undefined
    ? 'the service reports no prices, so Berth rents none'
    : `none right now; the cheapest is ${rate(cheapest)}`
}

/**
 * How many offers run on a bid, which must be above their lowest.
 * @param lowest the lowest bid of each offer, micro-dollars per hour
 * @param bid as typed, dollars per hour
 */
export function offerBidWords(lowest: readonly (Micros | undefined)[], bid: string): string {
  const most = micros(typedNumber(bid) || 0)
  const reached = lowest.filter(minimum => minimum !== undefined && minimum < most).length
  return reached === 0
    ? 'none has a minimum below that'
    : `${count(reached)} of ${count(lowest.length)} have a minimum below that`
}
