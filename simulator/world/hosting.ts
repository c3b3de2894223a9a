import { invalidArgs, refusal, type ServiceError } from '../errors.ts'
import type { WorldClock } from './clock.ts'
import { Collection } from './collection.ts'
import { Draw } from './draw.ts'
import type { Market } from './market/market.ts'

/** A machine that the account rents out. Times in world milliseconds. */
export interface Machine {
  readonly id: number
  readonly hostname: string
  readonly gpuName: string
  readonly gpus: number
  readonly geolocation: string
  /** 0 to 1 */
  readonly reliability: number
  /** Scheduled maintenance; null when there is none. */
  maintenance: { start: number; end: number; reason: string } | null
  /** Contracts that have ended and were not cleaned up. */
  expiredContracts: number
  readonly runningContracts: number
}

/** Maintenance of any host's machine, as its renters see it. Times in world milliseconds. */
export interface AnnouncedMaintenance {
  readonly id: number
  readonly machineId: number
  readonly start: number
  readonly hours: number
  readonly category: string
}

const HOUR = 3_600_000

/** The account's machines, and checks of who owns a machine. */
export class Machines {
  readonly #clock: WorldClock
  readonly #market: Market
  readonly #own: Map<number, Machine>
  readonly #announced: AnnouncedMaintenance[] = []

  constructor(seed: number, clock: WorldClock, market: Market) {
    this.#clock = clock
    this.#market = market
    this.#own = new Map(ownMachines(seed, clock.now()).map(machine => [machine.id, machine]))
  }

  list(): Machine[] {
    for (const machine of this.#own.values()) this.#catchUp(machine)
    return [...this.#own.values()]
  }

  /** A host announces work on its machine, beginning in so many seconds. */
  announce(machineId: number, seconds: number, hours: number, category: string): void {
    const start = this.#clock.now() + seconds * 1000
    this.#announced.push({ id: this.#announced.length + 1, machineId, start, hours, category })
  }

  /** What is announced for these machines and not over. */
  announced(machineIds: readonly number[]): AnnouncedMaintenance[] {
    const now = this.#clock.now()
    return this.#announced.filter(
      ({ machineId, start, hours }) => machineIds.includes(machineId) && start + hours * HOUR > now,
    )
  }

  /** Throws 404 without a code if it is missing or not the account's, as section 4.4 requires for maintenance. */
  maintained(id: number, userId: number): Machine {
    const machine = this.#find(id)
    if (machine) return machine
    const msg = `There is no machine ${id} on this account.`
    throw refusal(404, null, msg, { machine_id: id, user_id: userId })
  }

  /** Throws 403 `not_authorized` for someone else's and 400 `invalid_args` for an unknown one. */
  owned(id: number): Machine {
    const machine = this.#find(id)
    if (machine) return machine
    throw this.#market.hasMachine(id) ? notOwner(id) : invalidArgs(`There is no machine ${id}.`)
  }

  #find(id: number): Machine | undefined {
    const machine = this.#own.get(id)
    if (machine) this.#catchUp(machine)
    return machine
  }

  /** Removes maintenance that is over. */
  #catchUp(machine: Machine): void {
    if (machine.maintenance && machine.maintenance.end <= this.#clock.now()) machine.maintenance = null
  }
}

function notOwner(id: number): ServiceError {
  return refusal(403, 'not_authorized', `Only the owner of machine ${id} may do this.`)
}

/** Their ids are far below the market's, so that none coincide. */
function ownMachines(seed: number, now: number): Machine[] {
  const draw = new Draw(seed, 'own machines')
  const id = draw.integer(500, 900)
  const at = (hours: number) => now + hours * HOUR
  const shared = { geolocation: 'Saxony, DE', reliability: 0.9974 }
  return [
    {
      ...shared,
      id,
      hostname: 'rack-a1',
      gpuName: 'RTX 4090',
      gpus: 4,
      maintenance: { start: at(30), end: at(34), reason: 'Driver upgrade' },
      expiredContracts: draw.integer(2, 6),
      runningContracts: 2,
    },
    {
      ...shared,
      id: id + 1,
      hostname: 'rack-a2',
      gpuName: 'RTX 3090',
      gpus: 8,
      maintenance: { start: at(100), end: at(112), reason: 'Power supply' },
      expiredContracts: draw.integer(1, 3),
      runningContracts: 0,
    },
    {
      ...shared,
      id: id + 2,
      hostname: 'attic',
      gpuName: 'RTX 3060',
      gpus: 1,
      reliability: 0.93,
      maintenance: null,
      expiredContracts: 0,
      runningContracts: 1,
    },
  ]
}

/** A disk that several machines mount. `created` in world milliseconds. */
export interface NetworkDisk {
  readonly id: number
  readonly created: number
  /** The mount point on each machine. */
  readonly mounts: Map<number, string>
}

/** The account's network disks. */
export class NetworkDisks extends Collection<NetworkDisk> {
  readonly #clock: WorldClock

  constructor(seed: number, clock: WorldClock) {
    super('network disk', new Draw(seed, 'network disk ids').integer(300, 900))
    this.#clock = clock
  }

  /** Makes a disk, or adds machines to the one with that id. Throws 400 `invalid_args` for an unknown disk. */
  mount(mountPoint: string, machineIds: readonly number[], diskId: number | undefined): NetworkDisk {
    const created = this.#clock.now()
    const disk =
      diskId === undefined ? this.add(id => ({ id, created, mounts: new Map() })) : this.find(diskId)
    if (!disk) throw invalidArgs(`There is no network disk ${diskId}.`)
    for (const machineId of machineIds) disk.mounts.set(machineId, mountPoint)
    return disk
  }
}

/** The fields of a workergroup, defaults included, section 2.9. */
export interface WorkergroupContent {
  endpoint_name: string | null
  endpoint_id: number
  template_hash: string | null
  template_id: number | null
  search_params: string
  launch_args: string
  min_load: number
  target_util: number | null
}

/** `created` in world milliseconds. */
export interface Workergroup extends WorkergroupContent {
  readonly id: number
  readonly created: number
}

/** The account's workergroups. No worker is ever rented for them. */
export class Workergroups extends Collection<Workergroup> {
  readonly #clock: WorldClock
  readonly #endpoints = new Map<string, number>()
  readonly #firstEndpoint: number

  constructor(seed: number, clock: WorldClock) {
    const firstId = new Draw(seed, 'workergroup ids').integer(1000, 9000)
    super('workergroup', firstId)
    this.#clock = clock
    this.#firstEndpoint = firstId * 10
    this.endpoint('playground')
  }

  /** The account's endpoints by name, with their ids: one that was there, and those that were made. */
  endpoints(): ReadonlyMap<string, number> {
    return this.#endpoints
  }

  create(content: WorkergroupContent): Workergroup {
    return this.add(id => ({ ...content, id, created: this.#clock.now() }))
  }

  /** The id of the endpoint of that name, which is made if missing; without a name a new one. */
  endpoint(name: string | undefined): number {
    const known = name === undefined ? undefined : this.#endpoints.get(name)
    if (known !== undefined) return known
    const id = this.#firstEndpoint + this.#endpoints.size
    this.#endpoints.set(name ?? `endpoint ${id}`, id)
    return id
  }
}
