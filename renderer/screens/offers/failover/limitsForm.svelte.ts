import * as v from 'valibot'
import { FailoverLimits } from '../../../../electron/contract/automation/failover.ts'
import { type Micros, micros } from '../../../../electron/contract/spending/money.ts'
import { typedNumber } from '../../../components/fields/numbers.ts'

/** How far a failover may go, as it is filled in. */
export class LimitsForm {
  tries = $state('5')
  /** Dollars. */
  ceiling = $state('0.50')
  /** Minutes. */
  deadline = $state('10')
  /** Dollars per hour; only on demand, since a bid is its own limit. */
  price = $state('')
  readonly #interruptible: boolean
  #tried = $state(false)

  /** @param from the price of the best offer; by default the others may cost a quarter more */
  constructor(interruptible: boolean, from: Micros | undefined, seconds: number | undefined) {
    this.#interruptible = interruptible
    if (from !== undefined) this.price = (Math.ceil((from * 1.25) / 10_000) / 100).toFixed(2)
    if (seconds !== undefined) this.deadline = String(Math.round(seconds / 60))
  }

  readonly #read = $derived.by(() =>
    v.safeParse(FailoverLimits, {
      tries: typedNumber(this.tries),
      ceiling: typedNumber(this.ceiling),
      deadline: (typedNumber(this.deadline) ?? Number.NaN) * 60,
      ...(this.#interruptible ? {} : { price: typedNumber(this.price) ?? Number.NaN }),
    }),
  )

  /** How many of these prices are no dearer than it may be; micro-dollars per hour. */
  within(prices: readonly (Micros | undefined)[]): number {
    const most = micros(typedNumber(this.price) ?? 0)
    return prices.filter(price => price !== undefined && price <= most).length
  }

  readonly errors: Readonly<Record<string, string>> = $derived.by(() => {
    if (!this.#tried || this.#read.success) return {}
    return Object.fromEntries(
      this.#read.issues.map(({ message, ...issue }) => [
        v.getDotPath({ message, ...issue }) ?? '',
        `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      ]),
    )
  })

  /** The limits; undefined while something is wrong, which is told from then on. */
  limits(): FailoverLimits | undefined {
    this.#tried = true
    return this.#read.success ? this.#read.output : undefined
  }
}
