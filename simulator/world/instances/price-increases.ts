import { refusal } from '../../errors.ts'
import type { WorldClock } from '../clock.ts'
import type { Instance } from './instance.ts'
import type { Instances } from './instances.ts'

/** What a host asks for from now on; it needs the user's consent. `factor` is on every price. */
export interface PriceIncrease {
  readonly id: number
  readonly instance: Instance
  readonly factor: number
  /** World milliseconds. */
  readonly created: number
}

const FIRST_ID = 7001

/** The price increases that wait for an answer. */
export class PriceIncreases {
  readonly #clock: WorldClock
  readonly #instances: Instances
  readonly #all = new Map<number, PriceIncrease>()
  #nextId = FIRST_ID

  constructor(clock: WorldClock, instances: Instances) {
    this.#clock = clock
    this.#instances = instances
  }

  /** Those of instances that are still there, oldest first. */
  list(): PriceIncrease[] {
    const living = new Set(this.#instances.list())
    return [...this.#all.values()].filter(({ instance }) => living.has(instance))
  }

  /** A host asks; an earlier question about the same instance is void then. */
  ask(instance: Instance, factor: number): PriceIncrease {
    for (const { id, instance: other } of this.#all.values()) if (other === instance) this.#all.delete(id)
    const increase = { id: this.#nextId, instance, factor, created: this.#clock.now() }
    this.#nextId += 1
    this.#all.set(increase.id, increase)
    return increase
  }

  /** The new prices hold from now on. Throws 404 `no_pending_price_increase`. */
  accept(id: number): Instance {
    const { instance, factor } = this.#take(id)
    instance.price = Math.round(instance.price * factor)
    instance.storageCost *= factor
    this.#instances.reprice(instance)
    return instance
  }

  /** The old prices stay. Throws 404 `no_pending_price_increase`. */
  reject(id: number): Instance {
    return this.#take(id).instance
  }

  #take(id: number): PriceIncrease {
    const increase = this.list().find(known => known.id === id)
    if (!increase) {
      throw refusal(404, 'no_pending_price_increase', 'This price increase is not pending any more.')
    }
    this.#all.delete(id)
    return increase
  }
}
