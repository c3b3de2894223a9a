import type { Rates } from '../ledger.ts'
import type { Offer } from '../market/offers.ts'
import { diskRate } from '../money.ts'
import type { Launch } from './launch.ts'
import type { Step } from './plan.ts'
import type { Watchdog } from './watchdog.ts'

/** A rented container. Times in world milliseconds, prices in micro-dollars per hour. */
export interface Instance {
  readonly id: number
  readonly offer: Offer
  readonly launch: Launch
  readonly created: number
  readonly apiKey: string
  readonly jupyterToken: string
  label: string
  /** Its bid; null when it is on-demand. */
  bid: number | null
  /** What its GPUs cost on demand: the host may raise it, with the user's consent. */
  price: number
  /** Dollars per GB of its disk and month. */
  storageCost: number
  /** When its contract ends. */
  ends: number
  /** What it goes on by from then on, if anything: all prices by a factor, until another end. */
  renewal: { readonly factor: number; readonly ends: number } | null
  /** Whether it was asked to start and waits for GPUs that someone else has. */
  queued: boolean
  /** GB in use as the control plane says; null for what its age gives. */
  diskUsed: number | null
  /** The lowest bid that runs on its GPUs now. */
  minBid: number
  /** What the user asked for. */
  intended: 'running' | 'stopped'
  /** `actual_status`. */
  status: string | null
  message: string
  /** Since when the status holds. */
  since: number
  /** What will happen by itself. Empty once a status was forced. */
  plan: Step[]
  /** How often it was booted. */
  boots: number
  /** Whether its image was pulled: later starts are quicker. */
  pulled: boolean
  /** What its owner left on it to end it; null where there is nothing. */
  watchdog: Watchdog | null
  /** Public keys that get in. */
  readonly sshKeys: string[]
}

/** Whether its bid is too low to run now. */
export function isOutbid(instance: Instance): boolean {
  return instance.bid !== null && instance.bid < instance.minBid
}

/** What its GPUs cost while it runs. */
export function gpuRate(instance: Instance): number {
  return instance.bid ?? instance.price
}

/** What its disk costs as long as it exists. */
export function storageRate(instance: Instance): number {
  return diskRate(instance.storageCost, instance.launch.disk)
}

/** What it costs in its present status: disk always, GPUs only while it is `running`. */
export function ratesNow(instance: Instance): Rates {
  return { gpu: instance.status === 'running' ? gpuRate(instance) : 0, disk: storageRate(instance) }
}
