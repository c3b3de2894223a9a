import * as v from 'valibot'
import { FailoverId } from '../../contract/automation/failover.ts'
import { WatchId, WatchWish } from '../../contract/automation/watch.ts'
import { AccountId } from '../../contract/ids.ts'
import { StoredProblem } from '../rentals/rental.ts'

/** A machine that was told of, and at what price in micro-dollars per hour. */
const Told = v.object({
  machine: v.string(),
  price: v.number(),
  /** When it was last on offer; epoch seconds of the account's time. */
  at: v.number(),
})
export type Told = v.InferOutput<typeof Told>

/** A watch as it is remembered. Secret values of what it rents are in the keychain, under its id. */
export const Watch = v.object({
  id: WatchId,
  account: AccountId,
  wish: WatchWish,
  paused: v.boolean(),
  /** Epoch seconds of the account's time. */
  lookedAt: v.exactOptional(v.number()),
  told: v.array(Told),
  /** Machines it has rented. */
  rented: v.number(),
  /** The failover that rents the next one: written down before it begins. */
  renting: v.exactOptional(FailoverId),
  /** What keeps it from renting what matches, such as a guard: it was told. */
  waits: v.exactOptional(StoredProblem),
  /** Failovers in a row that came to nothing. */
  failed: v.number(),
})
export type Watch = v.InferOutput<typeof Watch>

/** Whether the market is to be looked at; `now` in epoch seconds of the account's time. */
export function isDue({ paused, lookedAt, wish }: Watch, now: number): boolean {
  return !paused && now >= nextLook({ lookedAt, wish })
}

/** When it is looked at next. A clock that went back makes it look again. */
export function nextLook({ lookedAt, wish }: { lookedAt?: number | undefined; wish: WatchWish }): number {
  return lookedAt === undefined ? 0 : lookedAt + wish.every * 60
}
