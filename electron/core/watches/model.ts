import * as v from 'valibot'
import { WatchId, WatchRequest } from '#contract/automation/watch.ts'
import { AccountId, RentalId } from '#contract/ids.ts'
import { StoredProblem } from '../app/problems.ts'
import { Run } from '../runs/model.ts'

/** A machine that is no longer news, with its price in micro-dollars per hour. */
const AlertedOffer = v.object({
  machine: v.string(),
  price: v.number(),
  /** When it was last on offer; epoch seconds of the account's time. */
  at: v.number(),
})
export type AlertedOffer = v.InferOutput<typeof AlertedOffer>

/** The run to start on each machine that a watch rents. */
export const StoredWatchRun = v.pick(Run, [
  'name',
  'command',
  'fetch',
  'into',
  'afterwards',
  'watchdog',
  'stuckAfter',
  'afterwardsIfStuck',
])
export type StoredWatchRun = v.InferOutput<typeof StoredWatchRun>

/** A watch as stored. Secret values of its rental request are in the keychain, under its id. */
export const Watch = v.object({
  id: WatchId,
  account: AccountId,
  request: WatchRequest,
  run: v.optional(StoredWatchRun),
  paused: v.boolean(),
  /** It was paused by Berth, and continues to record prices. A watch that the user paused does not search. */
  notesPrices: v.optional(v.boolean()),
  /** Epoch seconds of the account's time. */
  searchedAt: v.optional(v.number()),
  /** Absent before its first result, whose offers are not news. */
  alerted: v.optional(v.array(AlertedOffer)),
  /** The number of machines it has rented. */
  rented: v.number(),
  /** The rental of the next machine, stored before it begins. */
  renting: v.optional(RentalId),
  /** Why it does not rent now, such as a limit. */
  waits: v.optional(StoredProblem),
  /** Failed rentals in a row. */
  failed: v.number(),
})
export type Watch = v.InferOutput<typeof Watch>
