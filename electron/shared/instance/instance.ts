import * as v from 'valibot'
import type { Micros } from '../spending/money.ts'
import type { InstanceTraffic } from '../spending/traffic.ts'
import type { WebApp } from './web-apps.ts'

/**
 * An instance's state in people's words, derived from its record, its bid and its previous states (section 3.1). A
 * status that Berth does not know is `other`, and is shown by the service's own word.
 */
export type InstanceState =
  | 'provisioning'
  | 'loading'
  | 'running'
  | 'restarting'
  /** Paused with its memory: its GPUs are charged, though nothing computes. */
  | 'frozen'
  | 'stopping'
  | 'stopped'
  /** Started, but no GPU is free: it runs, and is charged, once one is. */
  | 'waiting'
  | 'outbid'
  /** Its container exited on its own a moment ago, and the service may restart it. */
  | 'exited'
  /** Its container ended, and the service does not say whether it was stopped or crashed. */
  | 'ended'
  | 'crashed'
  /** Its container was created and cannot start. */
  | 'unstartable'
  | 'silent'
  | 'offline'
  | 'destroying'
  | 'other'

/** Berth's last request for an instance, sent at `at`. */
export interface StateRequest {
  state: 'running' | 'stopped'
  /** Epoch seconds of the account's time. */
  at: number
  /** The service reported that the start waits for a free GPU. */
  queued?: boolean
}

/** An instance as Berth shows it. Money in micro-dollars, times in epoch seconds of the account's time. */
export interface InstanceView {
  id: number
  /** The mark with which a Berth rented it, in its label or environment. */
  mark?: string
  label?: string
  state: InstanceState
  /** `actual_status` as it came; null while being provisioned. */
  actualStatus: string | null
  intendedStatus?: string
  /** Absent again once the service shows the result. */
  stateRequest?: StateRequest
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
  /** Micro-dollars per hour while it runs: the bid for an interruptible one, else the agreed price. Disk included. */
  pricePerHour?: Micros
  /** The same, as agreed when Berth rented it. */
  agreedPrice?: Micros
  /** The part of its price for a promised reliability: with it, its GPUs are charged also while its host is offline. */
  reliabilityPrice?: Micros
  /** What is left of a prepayment, and its discount, 0 to 1; its prices are with that discount. */
  prepaid?: { left: Micros; discount: number }
  /** The most that prepaying can take off its price, 0 to 1; absent where the service doesn't say. */
  mostDiscount?: number
  /** Micro-dollars per hour while it is stopped. */
  diskPricePerHour?: Micros
  /** Its present cost per hour; 0 where that is unknown. */
  costPerHour: Micros
  /** Its current cost is unknown. */
  costUnknown?: true
  /** The present bid, and the lowest one that would run now. Micro-dollars per hour. */
  bid?: Micros
  minimumBid?: Micros
  /**
   * Spent since creation: `micros` at `at`, growing by `perHour` until a later answer says otherwise. `inferred` of it is
   * the most that it can have cost unseen, while something else may have spent that. `rise`: an accepted price, from then on.
   * `seenFrom`: when this Berth first saw it, where it was older then: what it had cost before is estimated. `unseen` of
   * that is from before Berth counted its account, so it's in no day's spending.
   */
  spent: {
    micros: Micros
    at: number
    perHour: Micros
    inferred?: Micros
    rise?: PriceRise
    seenFrom?: number
    unseen?: Micros
  }
  /** Absent while the service does not report it. */
  traffic?: InstanceTraffic
  startedAt?: number
  endsAt?: number
  image?: string
  template?: string
  runtype?: string
  location?: string
  machineId?: number
  hostId?: number
  /** Absent while the service has no SSH address; `problem` alone where Berth refuses all that it has. */
  ssh?: { direct?: SshAddress; proxy?: SshAddress; problem?: string }
  ports: readonly PortMapping[]
  jupyter: boolean
  /** The pages that its image's environment names; absent where it names none. */
  apps?: readonly WebApp[]
  /** The last fifty changes of state that Berth saw, oldest first. */
  history: readonly StatusChange[]
}

export interface PriceRise {
  at: number
  perHour: Micros
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

/** Why a container cannot start: its image is unavailable, or its machine cannot run it. */
type StartFailure = 'image' | 'container'

/** The start failure in the service's status message; undefined if the message has none. */
export function startFailure(message: string | undefined): StartFailure | undefined {
  const line = message?.toLowerCase() ?? ''
  if (line.includes('manifest unknown') || line.includes('pull access denied')) return 'image'
  return line.includes('oci runtime create failed') ? 'container' : undefined
}

/** A tag of the user's own: one word, so that several stand in one line. */
const Tag = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('a tag has at least one letter'),
  v.maxLength(32, 'at most 32 characters in a tag'),
  v.regex(/^[^\s,]+$/, 'a tag is one word'),
)

/** The user's own words about an instance, which only Berth keeps. */
export const NoteText = v.pipe(v.string(), v.trim(), v.maxLength(2000, 'at most 2,000 characters'))
export const NoteTags = v.pipe(v.array(Tag), v.maxLength(8, 'at most 8 tags'))

export interface InstanceNote {
  note: string
  tags: readonly string[]
}

/** The tags in a text that separates them by spaces or commas, each once. */
export function tagsIn(typed: string): string[] {
  return [...new Set(typed.split(/[\s,]+/).map(tag => tag.replace(/^#/, '')))].filter(Boolean)
}

/** Seconds in which an action on an instance can be undone. */
export const secondsToUndo = 5

/** Actions that lose nothing: they need no confirmation, are sent after a delay and can be undone until then. */
export const UndoableAction = v.picklist(['stop', 'start', 'reboot'])
export type UndoableAction = v.InferOutput<typeof UndoableAction>

/** An action on an instance that is sent at `sendAt`, unless the user undoes it. */
export interface UndoableView {
  action: UndoableAction
  /** Epoch milliseconds of this machine. */
  sendAt: number
}
