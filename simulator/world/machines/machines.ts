import { invalidArgs, refusal, type ServiceError } from '#simulator/errors.ts'
import type { WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'
import type { Market } from '../market/market.ts'

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

const HOUR = 3_600_000

/** The account's machines, and checks of who owns a machine. */
export class Machines {
  readonly #clock: WorldClock
  readonly #market: Market
  readonly #own: Map<number, Machine>

  constructor(seed: number, clock: WorldClock, market: Market) {
    this.#clock = clock
    this.#market = market
    this.#own = new Map(ownMachines(seed, clock.now()).map(machine => [machine.id, machine]))
  }

  list(): Machine[] {
    for (const machine of this.#own.values()) this.#catchUp(machine)
    return [...this.#own.values()]
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
