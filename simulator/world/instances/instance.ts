import type { JsonObject } from '#simulator/fields.ts'
import type { Rates } from '../ledger.ts'
import type { Offer } from '../market/offers.ts'
import { diskRate } from '../money.ts'
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
  /** The on-demand price of its GPUs: the host may raise it with the user's consent. */
  price: number
  /** Taken off the price of its GPUs while a prepayment lasts, as a share. */
  discount: number
  /** Dollars per GB of its disk and month. */
  storageCost: number
  /** When its contract ends. */
  ends: number
  /** The agreed renewal after that end: all prices times a factor, until another end. */
  renewal: { readonly factor: number; readonly ends: number } | null
  /** Whether its start waits for GPUs that someone else has. */
  queued: boolean
  /** GB in use as set by the control plane; null if its age decides. */
  diskUsed: number | null
  /** The lowest bid that runs on its GPUs now. */
  minBid: number
  /** The state that the user asked for. */
  intended: 'running' | 'stopped'
  /** `actual_status`. */
  status: string | null
  message: string
  /** The time of the latest change of status. */
  since: number
  /** Its future steps. Empty once a status was forced. */
  plan: Step[]
  /** How often it was booted. */
  boots: number
  /** Whether its image was pulled: later starts are quicker. */
  pulled: boolean
  /** Its owner's watchdog; null without one. */
  watchdog: Watchdog | null
  /**
   * Another SSH server in its place, as set by the control plane: its programs run there. `hasDisk`: it is on this computer,
   * where copies find its files by their paths.
   */
  joinedSsh: { host: string; port: number; hasDisk?: boolean } | null
  /** The public keys that can log in. */
  readonly sshKeys: string[]
}

/** Whether its bid is too low to run now. */
export function isOutbid(instance: Instance): boolean {
  return instance.bid !== null && instance.bid < instance.minBid
}

/** Whether its container or its host is gone: it leaves that status only by an action. */
export function isDead({ status }: Instance): boolean {
  return status === 'exited' || status === 'offline' || status === 'unknown'
}

/** The cost of its GPUs while it runs. */
export function gpuRate(instance: Instance): number {
  return instance.bid ?? instance.price
}

/** The cost of its disk while it exists. */
export function storageRate(instance: Instance): number {
  return diskRate(instance.storageCost, instance.launch.disk)
}

/**
 * Its cost in its present status: disk always, unless a host that is gone is free; GPUs while it is `running`
 * or `frozen`.
 */
export function ratesNow(instance: Instance, { goneIsFree }: { goneIsFree: boolean }): Rates {
  const { status } = instance
  const isGone = status === 'offline' || status === 'unknown'
  return {
    gpu:
      status === 'running' || status === 'frozen'
        ? Math.round(gpuRate(instance) * (1 - instance.discount))
        : 0,
    disk: isGone && goneIsFree ? 0 : storageRate(instance),
  }
}

/** Volumes that a creation asks for, section 2.4. */
export interface VolumeRequest {
  createNew: boolean
  volumeId: number
  /** GB, only for a new one. */
  size: number | null
  mountPath: string
}

/** The request to create an instance, merged with its template. */
export interface Launch {
  /** With its tag. */
  image: string
  /** GB. */
  disk: number
  runtype: string
  onstart: string
  env: Record<string, string>
  label: string
  /** Micro-dollars per hour; null for an on-demand instance. */
  bid: number | null
  /** Fail rather than create it stopped. */
  cancelUnavailable: boolean
  targetState: 'running' | 'stopped'
  template: { hashId: string; name: string } | null
  volume: VolumeRequest | null
  /** The registry of the login; null without one. */
  registry: string | null
  extraFilters: JsonObject
}
