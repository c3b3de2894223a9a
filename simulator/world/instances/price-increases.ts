import { refusal } from '#simulator/errors.ts'
import type { WorldClock } from '../clock.ts'
import { Collection } from '../collection.ts'
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

/** The unanswered price increases. */
export class PriceIncreases extends Collection<PriceIncrease> {
  readonly #clock: WorldClock
  readonly #instances: Instances

  constructor(clock: WorldClock, instances: Instances) {
    super('price increase', 7001)
    this.#clock = clock
    this.#instances = instances
  }

  /** Those of existing instances, oldest first. */
  override list(): PriceIncrease[] {
    return super.list().filter(({ instance }) => this.#instances.find(instance.id) === instance)
  }

  /** Adds a request, which replaces an earlier one for the same instance. */
  ask(instance: Instance, factor: number): PriceIncrease {
    for (const { id, instance: other } of this.list()) if (other === instance) this.remove(id)
    const ends = instance.ends + instance.offer.facts.duration * 1000
    return this.add(id => ({ id, instance, factor, created: this.#clock.now(), ends }))
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
    this.remove(id)
    return increase
  }
}
