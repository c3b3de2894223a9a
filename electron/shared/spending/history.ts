import type { Micros } from './money.ts'

/** The spending in a stretch of time, and the credit at its end. */
export interface MoneySample {
  /** The end of the stretch, epoch seconds of the account's time. */
  at: number
  spent: Micros
  /** Absent where the key may not read it. */
  credit?: Micros
}

/** The cost of a day, by this machine's calendar. */
export interface MoneyDay {
  /** `2026-11-21`. */
  day: string
  /** From the credit if known, else from instances' prices: the shares below may add up to less. */
  spent: Micros
  toppedUp: Micros
  /** The credit was topped up while Berth was away, so `toppedUp` and `spent` are estimates. */
  estimated?: true
  /** Credit when it was last polled on that day. */
  credit?: Micros
  /** By GPU model; `''` for an unknown one. */
  models: Readonly<Record<string, Micros>>
  /** By instance id. Old days, and the smallest of very many shares, are only stored by model. */
  instances: Readonly<Record<string, Micros>>
  /** How each instance's share divides, by its id, as Berth counted it. Absent for days counted before Berth did. */
  uses?: Readonly<Record<string, InstanceUse>>
  /** The service's own charges by instance id, which then determine `spent` instead of the credit. */
  charged?: Readonly<Record<string, ChargedKinds>>
}

/** An instance's charges by kind. */
export interface ChargedKinds {
  gpu?: Micros
  disk?: Micros
  traffic?: Micros
  other?: Micros
}

/** An instance's share of a day by kind, and how long its GPUs were charged. */
export interface InstanceUse extends ChargedKinds {
  /** Seconds. */
  ran?: number
}

/** An instance in the days, which may be gone by now. */
export interface SpenderName {
  gpu?: string
  label?: string
  /** The name of the project that it was rented for. */
  project?: string
}

/** The history of an account's money: samples of equal length, oldest first, and whole days. */
export interface MoneyHistory {
  samples: readonly MoneySample[]
  days: readonly MoneyDay[]
  /** By instance id. */
  names: Readonly<Record<string, SpenderName>>
}
