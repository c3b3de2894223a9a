import { RetryLimits } from '#contract/market/rental.ts'
import { type Micros, micros } from '#contract/spending/money.ts'
import { typedNumber } from '#renderer/components/fields/numbers.ts'
import { type FormErrors, number, readForm } from '#renderer/components/fields/readForm.ts'

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

  readonly errors: FormErrors = $derived((this.#tried && this.#read.errors) || {})

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
