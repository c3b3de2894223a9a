import type { Micros } from './money.ts'

/** A stretch of time: what was spent in it, and the credit at its end. */
export interface MoneySample {
  /** The end of the stretch, epoch seconds of the account's time. */
  at: number
  spent: Micros
  /** Absent where the key may not read it. */
  credit?: Micros
}

/** What a day of this machine's calendar cost. */
export interface MoneyDay {
  /** `2026-11-21`. */
  day: string
  /** By the credit where it is known, else by the prices of what ran: the shares below may add up to less. */
  spent: Micros
  toppedUp: Micros
  /** What was paid in while Berth was away, and with it what was spent, is only the likeliest. */
  estimated?: true
  /** Credit when it was last polled on that day. */
  credit?: Micros
  /** By GPU model; `''` where it is not known. */
  models: Readonly<Record<string, Micros>>
  /** By instance id. For days long ago, and for the smallest of very many, only the models are kept. */
  instances: Readonly<Record<string, Micros>>
  /** The service's own charges, by instance id: what the day cost then follows from them, not from the credit. */
  charged?: Readonly<Record<string, ChargedKinds>>
}

/** What an instance was charged for. */
export interface ChargedKinds {
  gpu?: Micros
  disk?: Micros
  traffic?: Micros
  other?: Micros
}

/** What the instances in the days are, or were. */
export interface SpenderName {
  gpu?: string
  label?: string
  /** The name of the project that it was rented for. */
  project?: string
}

/** How an account's money went: samples of one length, oldest first, and whole days. */
export interface MoneyHistory {
  samples: readonly MoneySample[]
  days: readonly MoneyDay[]
  /** By instance id. */
  names: Readonly<Record<string, SpenderName>>
}
