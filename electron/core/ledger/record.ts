import * as v from 'valibot'
import { InstanceId } from '#shared/ids.ts'
import { StoredSpender } from '#shared/spending/spender.ts'
import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'

/**
 * One machine that may cost money, or what a spender's gone machines have cost on a day. Money in micro-dollars, times in
 * epoch seconds of the account's time.
 */
export const LedgerEntry = v.object({
  /** The rental's mark, `i` and the id of an instance that was started, or the day of a sum. */
  id: v.string(),
  /** Who pays; absent for you. */
  by: v.optional(StoredSpender),
  /** Whoever pays only started it: it was rented by you. */
  isBorrowed: v.optional(v.literal(true)),
  /** Machines that were agreed to together. */
  group: v.optional(v.string()),
  /** Absent while it is only reserved. */
  instance: v.optional(InstanceId),
  /** While it runs, disk included. */
  perHour: v.number(),
  /** In all, where dollars bound it. */
  most: v.optional(v.number()),
  /** For how long at most, where a limit bounds that. */
  seconds: v.optional(v.number()),
  /** That bounds all machines of its group together. */
  isShared: v.optional(v.boolean()),
  /** When it was reserved, and up to when its cost is committed. */
  at: v.number(),
  seenAt: v.optional(v.number()),
  /** What its instance had cost then, and what of it counts here. */
  seen: v.optional(v.number()),
  spent: v.number(),
  /** The part of that on a day. */
  day: v.string(),
  today: v.number(),
  /** A sum of a day. */
  isSum: v.optional(v.literal(true)),
})
export type LedgerEntry = v.InferOutput<typeof LedgerEntry>

export type StoredLedger = Collection<LedgerEntry, string>

export function openStoredEntries(context: CollectionContext): Promise<StoredLedger> {
  return openCollection(context, { name: 'ledger', schema: LedgerEntry, key: ({ id }) => id })
}

/** The account's day of a moment, from midnight UTC. */
export function dayOf(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 10)
}

/** Seconds until that day ends. */
export function restOfDay(at: number): number {
  return 86_400 - (((at % 86_400) + 86_400) % 86_400)
}
