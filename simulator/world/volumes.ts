import { invalidArgs, refusal } from '../errors.ts'
import type { WorldClock } from './clock.ts'
import { Collection } from './collection.ts'
import { Draw } from './draw.ts'
import type { Instances } from './instances/instances.ts'
import type { Ledger } from './ledger.ts'
import type { Market } from './market/market.ts'
import type { Offer } from './market/offers.ts'
import { diskRate, dollars } from './money.ts'

/** A part of a machine's disk that outlives the instances that mount it. */
export interface Volume {
  readonly id: number
  readonly label: string
  /** An offer on its machine. */
  readonly offer: Offer
  /** GB */
  readonly size: number
  /** World milliseconds. */
  readonly created: number
}

/** Plus a machine's id, this is the id of its volume offer. */
const FIRST_ASK = 30_000_000

/** The parts of the world that decide about volumes. */
interface Surroundings {
  seed: number
  clock: WorldClock
  market: Market
  instances: Instances
  ledger: Ledger
}

/** The account's volumes, and the space that machines offer for more. */
export class Volumes extends Collection<Volume> {
  readonly #world: Surroundings
  readonly #seen = new Set<number>()

  constructor(world: Surroundings) {
    super('volume', new Draw(world.seed, 'volume ids').integer(1_000_000, 9_000_000))
    this.#world = world
  }

  /** One offer of each machine that has space for a volume. */
  machines(): Offer[] {
    const first = new Map<number, Offer>()
    for (const offer of this.#world.market.all()) {
      if (!first.has(offer.facts.machine_id)) first.set(offer.facts.machine_id, offer)
    }
    return [...first.values()].filter(offer => this.room(offer) >= 1)
  }

  /** The id for renting space on the offer's machine. */
  askId({ facts }: Offer): number {
    return FIRST_ASK + facts.machine_id
  }

  /** The most whole GB of a new volume: half the offer's disk, less the volumes rented on its machine. */
  room({ facts }: Offer): number {
    const taken = this.list()
      .filter(({ offer }) => offer.facts.machine_id === facts.machine_id)
      .reduce((sum, { size }) => sum + size, 0)
    return Math.max(0, Math.floor(facts.disk_space / 2) - taken)
  }

  /** Dollars an hour for so many GB. */
  hourly({ facts }: Offer, size: number): number {
    return dollars(diskRate(facts.storage_cost, size))
  }

  /** Whether this id is or was a volume's. */
  isVolume(id: number): boolean {
    return this.#seen.has(id)
  }

  /** Throws 404 `no_such_volume`. */
  override get(id: number): Volume {
    const volume = this.find(id)
    if (!volume) throw refusal(404, 'no_such_volume', 'Volume with that ID does not exist.')
    return volume
  }

  /** The instances that mount it, stopped ones too. */
  instancesOf({ id }: Volume): number[] {
    return this.#world.instances
      .list()
      .filter(({ launch }) => launch.volume?.volumeId === id)
      .map(instance => instance.id)
  }

  /** Rents a volume, charged from now on. Throws 400 `invalid_args`. */
  rent(askId: number, size: number, label: string): Volume {
    const offer = this.machines().find(known => this.askId(known) === askId)
    if (!offer) throw invalidArgs(`There is no volume offer ${askId}.`)
    if (size < 1 || size > this.room(offer))
      throw invalidArgs(`size must be from 1 to ${this.room(offer)} GB.`)
    const volume = this.add(id => ({ id, label, offer, size, created: this.#world.clock.now() }))
    this.#seen.add(volume.id)
    const rates = { gpu: 0, disk: diskRate(offer.facts.storage_cost, size) }
    this.#world.ledger.setRates(volume.id, volume.created, rates)
    return volume
  }

  /** Throws 404 `no_such_volume`, and 400 `invalid_args` while an instance has it mounted. */
  override remove(id: number): void {
    const users = this.instancesOf(this.get(id))
    if (users.length > 0) throw invalidArgs(`The volume is in use by instance ${users.join(', ')}.`)
    this.#world.ledger.setRates(id, this.#world.clock.now(), null)
    super.remove(id)
  }
}
