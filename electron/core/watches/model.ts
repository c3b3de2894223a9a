import * as v from 'valibot'
import { AttemptSeriesId } from '../../contract/automation/attempts.ts'
import { WatchId, WatchRequest } from '../../contract/automation/watch.ts'
import { AccountId } from '../../contract/ids.ts'
import { StoredProblem } from '../app/problems.ts'
import { Run } from '../runs/model.ts'

/** A machine that was told of, and at what price in micro-dollars per hour. */
const AlertedOffer = v.object({
  machine: v.string(),
  price: v.number(),
  /** When it was last on offer; epoch seconds of the account's time. */
  at: v.number(),
})
export type AlertedOffer = v.InferOutput<typeof AlertedOffer>

/** What is run on each machine that a watch rents. */
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

/** A watch as it is remembered. Secret values of what it rents are in the keychain, under its id. */
export const Watch = v.object({
  id: WatchId,
  account: AccountId,
  request: WatchRequest,
  run: v.optional(StoredWatchRun),
  paused: v.boolean(),
  /** It paused by itself: prices go on being noted. What the user paused asks nothing. */
  notesPrices: v.optional(v.boolean()),
  /** Epoch seconds of the account's time. */
  searchedAt: v.optional(v.number()),
  /** Absent until its search was answered once: what is there from the beginning is no news. */
  alerted: v.optional(v.array(AlertedOffer)),
  /** Machines it has rented. */
  rented: v.number(),
  /** The series of attempts that rents the next one: written down before it begins. */
  renting: v.optional(AttemptSeriesId),
  /** What keeps it from renting what matches, such as a guard: it was alerted. */
  waits: v.optional(StoredProblem),
  /** Attempts in a row that came to nothing. */
  failed: v.number(),
})
export type Watch = v.InferOutput<typeof Watch>
