import { invalidArgs, refusal } from '#simulator/errors.ts'
import type { Account } from '../account.ts'
import type { WorldClock } from '../clock.ts'
import type { Ledger } from '../ledger.ts'
import { HOURS_PER_MONTH } from '../money.ts'
import { gpuRate, type Instance, storageRate } from './instance.ts'
import type { Instances } from './instances.ts'

/** The most that a host takes off for a prepayment, as a share. */
export const MOST_DISCOUNT = 0.4

/** Of what the discount has saved: it's kept besides, where the instance is destroyed. */
const FEE = 0.05

/** Money that was paid ahead for an instance, in micro-dollars. */
interface Deposit {
  paid: number
  discount: number
  /** Saved by discounts before this one. */
  saved: number
  /** The instance's charges before: for its GPUs, and with its disk. */
  before: { gpu: number; all: number }
}

/** What was paid ahead for on-demand instances: their charges come from it, and it makes their GPUs cheaper. */
export class Deposits {
  readonly #clock: WorldClock
  readonly #ledger: Ledger
  readonly #account: Account
  readonly #instances: Instances
  readonly #all = new Map<number, Deposit>()
  /** Kept of the deposits of destroyed instances. */
  #kept = 0

  constructor(clock: WorldClock, ledger: Ledger, account: Account, instances: Instances) {
    this.#clock = clock
    this.#ledger = ledger
    this.#account = account
    this.#instances = instances
    account.heldAt = now => [...this.#all.keys()].reduce((sum, id) => sum + this.left(id, now), this.#kept)
  }

  /** Pays ahead. Throws 400 `invalid_args`, `insufficient_credit` or `rental_too_long`. */
  pay(id: number, amount: number): { months: number; discount: number } {
    const now = this.#clock.now()
    const instance = this.#instances.find(id)
    if (amount <= 0) throw invalidArgs('amount must be > 0')
    if (!instance || instance.bid !== null) throw invalidArgs('No such instance')
    if (amount > this.#account.creditAt(now)) throw refusal(400, 'insufficient_credit', 'Insufficient credit')
    const paid = this.left(id) + amount
    const months = paid / monthOf(instance)
    if (instance.ends < now + months * HOURS_PER_MONTH * 3_600_000)
      throw refusal(400, 'rental_too_long', 'Cannot rent instance for that length of time')
    // A fifth for a month, and three tenths for three.
    const discount = (MOST_DISCOUNT * months) / (months + 1)
    this.#all.set(id, { paid, discount, saved: this.saved(id), before: this.#charged(id) })
    this.#instances.setDiscount(instance, discount)
    return { months, discount }
  }

  /** What is left of it. */
  left(id: number, now = this.#clock.now()): number {
    const deposit = this.#all.get(id)
    return deposit ? Math.max(0, deposit.paid - (this.#charged(id, now).all - deposit.before.all)) : 0
  }

  /** The months that are left at its price. */
  months(instance: Instance): number {
    return this.left(instance.id) / monthOf(instance)
  }

  /** What its discount has saved so far. */
  saved(id: number): number {
    const { saved, discount, before } = this.#all.get(id) ?? nothing
    return saved + ((this.#charged(id).gpu - before.gpu) * discount) / (1 - discount)
  }

  /** What destroying it pays back. */
  refundable(id: number): number {
    return Math.max(0, Math.round(this.left(id) - this.saved(id) * (1 + FEE)))
  }

  /** Ends the discounts of deposits that are used up, and pays back those of instances that are gone. */
  catchUp(): void {
    for (const id of this.#all.keys()) {
      const instance = this.#instances.find(id)
      if (instance && this.left(id) > 0) continue
      if (instance) this.#instances.setDiscount(instance, 0)
      else this.#kept += this.left(id) - this.refundable(id)
      this.#all.delete(id)
    }
  }

  #charged(id: number, now = this.#clock.now()): Deposit['before'] {
    const gpu = this.#ledger.amount(id, 'gpu', now)
    return { gpu, all: gpu + this.#ledger.amount(id, 'disk', now) }
  }
}

const nothing: Pick<Deposit, 'saved' | 'discount' | 'before'> = {
  saved: 0,
  discount: 0,
  before: { gpu: 0, all: 0 },
}

/** What it costs in a month of running, without a discount. */
function monthOf(instance: Instance): number {
  return (gpuRate(instance) + storageRate(instance)) * HOURS_PER_MONTH
}
