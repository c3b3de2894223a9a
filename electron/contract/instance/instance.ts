import type { Micros } from '../spending/money.ts'
import type { InstanceTraffic } from '../spending/traffic.ts'

/**
 * Where an instance stands, in the words people use. From what its record says of its state, the bid, and how it was
 * before (section 3.1); a status this list does not know is `other` and shown by its own word.
 */
export type InstanceState =
  | 'provisioning'
  | 'loading'
  | 'running'
  | 'restarting'
  | 'stopping'
  | 'stopped'
  /** Started, and no GPU is free for it: it runs, and is charged, once one is. */
  | 'waiting'
  | 'outbid'
  /** Its container ended by itself a moment ago, and may be started again. */
  | 'exited'
  | 'crashed'
  /** Its container was made and cannot be started. */
  | 'unstartable'
  | 'silent'
  | 'offline'
  | 'destroying'
  | 'other'

/** What Berth last asked of an instance, at `at`. */
export interface AskedState {
  state: 'running' | 'stopped'
  /** Epoch seconds of the account's time. */
  at: number
  /** The service said that the start waits until a GPU is free. */
  queued?: boolean
}

/** An instance as Berth shows it. Money in micro-dollars, times in epoch seconds of the account's time. */
export interface InstanceView {
  id: number
  label?: string
  state: InstanceState
  /** `actual_status` as it came; null while being provisioned. */
  actualStatus: string | null
  intendedStatus?: string
  /** Until the service has shown that it was done. */
  asked?: AskedState
  /** The service's own line of progress or failure. */
  statusMessage?: string
  gpu?: { name: string; count: number /** MB per GPU */; memory?: number }
  /** Percent. */
  gpuLoad?: number
  /** Degrees Celsius. */
  gpuTemperature?: number
  cpu?: { /** percent */ load?: number /** GB */; memoryUsed?: number; memoryTotal?: number }
  disk?: { /** GB */ size?: number; used?: number }
  interruptible: boolean
  /** Micro-dollars per hour when it runs: the bid for an interruptible one, else the price agreed. Disk included. */
  pricePerHour?: Micros
  /** Micro-dollars per hour while it is stopped. */
  diskPricePerHour?: Micros
  /** What it costs per hour as things are now. */
  costPerHour: Micros
  /** The bid that is in force, and the lowest one that would run now. Micro-dollars per hour. */
  bid?: Micros
  minimumBid?: Micros
  /** Spent since creation: `micros` at `at`, growing by `perHour` until a later answer says otherwise. */
  spent: { micros: Micros; at: number; perHour: Micros }
  /** Absent while the service tells nothing of it. */
  traffic?: InstanceTraffic
  startedAt?: number
  endsAt?: number
  image?: string
  template?: string
  runtype?: string
  location?: string
  machineId?: number
  hostId?: number
  /** How to get in; absent while the service does not say, with `problem` when what it says is refused. */
  ssh?: { direct?: SshAddress; proxy?: SshAddress; problem?: string }
  ports: readonly PortMapping[]
  jupyter: boolean
  /** Every change of state that Berth saw, oldest first, the last fifty. */
  history: readonly StatusChange[]
}

export interface SshAddress {
  host: string
  port: number
}

/** `container` such as `8080/tcp`, reachable from outside at `host`:`port`. */
export interface PortMapping {
  container: string
  host: string
  port: number
}

export interface StatusChange {
  /** Epoch seconds of the account's time. */
  at: number
  state: InstanceState
  actualStatus: string | null
  message?: string
}
