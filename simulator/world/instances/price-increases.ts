import { refusal } from '#simulator/errors.ts'
import type { WorldClock } from '../clock.ts'
import type { Instance } from './instance.ts'
import type { Instances } from './instances.ts'

/** A host's request for new prices (`factor` times GPUs and disk) after the contract, if the user consents. */
export interface PriceIncrease {
  readonly id: number
  readonly instance: Instance
  readonly factor: number
  /** World milliseconds: of the request, and of the renewed contract's end. */
  readonly created: number
  readonly ends: number
}

const FIRST_ID = 7001

/** The unanswered price increases. */
export class PriceIncreases {
  readonly #clock: WorldClock
  readonly #instances: Instances
  readonly #all = new Map<number, PriceIncrease>()
  #nextId = FIRST_ID

  constructor(clock: WorldClock, instances: Instances) {
    this.#clock = clock
    this.#instances = instances
  }

  /** Those of existing instances, oldest first. */
  list(): PriceIncrease[] {
    const living = new Set(this.#instances.list())
    return [...this.#all.values()].filter(({ instance }) => living.has(instance))
  }

  /** Adds a request, which replaces an earlier one for the same instance. */
  ask(instance: Instance, factor: number): PriceIncrease {
    for (const { id, instance: other } of this.#all.values()) if (other === instance) this.#all.delete(id)
    const ends = instance.ends + instance.offer.facts.duration * 1000
    const increase = { id: this.#nextId, instance, factor, created: this.#clock.now(), ends }
    this.#nextId += 1
    this.#all.set(increase.id, increase)
    return increase
  }

  /** Renews the contract at the new prices once it ends. Throws 404 `no_pending_price_increase`. */
  accept(id: number): Instance {
    const { instance, factor, ends } = this.#take(id)
    instance.renewal = { factor, ends }
    return instance
  }

  /** Keeps the prices, and lets the contract end. Throws 404 `no_pending_price_increase`. */
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
