import { invalidArgs, notFound } from '#simulator/errors.ts'
import { Collection } from '../collection.ts'
import type { Market } from '../market/market.ts'
import type { Offer } from '../market/offers.ts'
import type { Instances } from './instances.ts'

/** A private network of instances within one cluster of machines. */
export interface Overlay {
  readonly id: number
  readonly name: string
  readonly cluster: number
  /** The first three numbers of its addresses. */
  readonly net: string
  /** The place of each instance in it, by id: the last number of its address, from 2 on. */
  readonly places: Map<number, number>
}

const firstPlace = 2

/** The account's overlays. */
export class Overlays extends Collection<Overlay> {
  readonly #market: Market
  readonly #instances: Instances

  constructor(market: Market, instances: Instances) {
    super('overlay', 1)
    this.#market = market
    this.#instances = instances
  }

  /** The ids of its instances that exist. */
  members({ places }: Overlay): number[] {
    return [...places.keys()].filter(id => this.#instances.find(id))
  }

  /** Throws 400 `invalid_args` for another name and for one that is taken, 404 for an unknown cluster. */
  create(cluster: number, name: string): Overlay {
    if (!/^[a-z0-9-]{1,64}$/.test(name)) throw invalidArgs('name takes small letters, digits and -.')
    if (this.list().some(overlay => overlay.name === name)) throw invalidArgs(`There is an overlay ${name}.`)
    if (!this.#market.all().some(({ facts }) => facts.cluster_id === cluster))
      throw notFound(`There is no cluster ${cluster}.`)
    return this.add(id => ({ id, name, cluster, net: `10.0.${id}`, places: new Map() }))
  }

  /** Throws 400 `invalid_args` for an offer of another cluster, and 404 for an unknown overlay. */
  refuseUnlessInside(name: string, { facts }: Offer): void {
    if (this.#named(name).cluster !== facts.cluster_id)
      throw invalidArgs(`Overlay ${name} is in another cluster.`)
  }

  /** Puts an instance into an overlay. Throws as `refuseUnlessInside` does, and 404 `no_such_instance`. */
  join(name: string, instanceId: number): void {
    this.refuseUnlessInside(name, this.#instances.get(instanceId).offer)
    const { places } = this.#named(name)
    if (!places.has(instanceId)) places.set(instanceId, firstPlace + places.size)
  }

  /** Deletes an overlay by id or name, and destroys all of its instances. Throws 404. */
  delete(wanted: { id: number } | { name: string }): void {
    const found = 'id' in wanted ? this.get(wanted.id) : this.#named(wanted.name)
    for (const id of this.members(found)) this.#instances.destroy(this.#instances.get(id))
    this.remove(found.id)
  }

  /** An instance's address in its overlay; undefined outside any. */
  addressOf(instanceId: number): string | undefined {
    for (const { net, places } of this.list()) {
      const place = places.get(instanceId)
      if (place !== undefined) return `${net}.${place}`
    }
    return undefined
  }

  #named(name: string): Overlay {
    const found = this.list().find(overlay => overlay.name === name)
    if (!found) throw notFound(`There is no overlay ${name}.`)
    return found
  }
}
