import * as v from 'valibot'
import type { Files } from '#platform/platform.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { AccountView } from '#shared/state.ts'
import { type Document, type DocumentPlace, openDocument, readDocument } from '../storage/json-file.ts'

/**
 * An account's last view, as the page saw it: shown after a start until the first answer, and the base on which
 * spending and histories continue. Views hold no secrets.
 */
export interface LastSeen {
  /** Epoch seconds of the account's time. */
  at?: number
  /** The same moment by this machine's clock, epoch milliseconds. */
  heardAt?: number
  userId?: number
  email?: string
  credit?: number
  creditAt?: number
  tfaStatus?: string
  spendPerHour: number
  instances: Record<string, InstanceView>
}

/** The stored form, checked just enough to notice a broken file. */
export const InstanceShape = v.custom<InstanceView>(value =>
  v.is(
    v.looseObject({
      id: v.number(),
      state: v.string(),
      spent: v.looseObject({}),
      history: v.array(v.unknown()),
      ports: v.array(v.unknown()),
    }),
    value,
  ),
)

const LastSeenShape: v.GenericSchema<LastSeen> = v.object({
  at: v.optional(v.number()),
  heardAt: v.optional(v.number()),
  userId: v.optional(v.number()),
  email: v.optional(v.string()),
  credit: v.optional(v.number()),
  creditAt: v.optional(v.number()),
  tfaStatus: v.optional(v.string()),
  spendPerHour: v.number(),
  instances: v.record(v.string(), InstanceShape),
})

export function openLastSeen(place: DocumentPlace): Promise<Document<LastSeen>> {
  return openDocument(place, 'last-seen', LastSeenShape, { spendPerHour: 0, instances: {} })
}

/** The same without opening it, from an account's folder; undefined where it is missing or broken. */
export function readLastSeen(files: Files, folder: string): Promise<LastSeen | undefined> {
  return readDocument(files, `${folder}/last-seen.json`, LastSeenShape)
}

/** The part of an account's view that is stored. */
export function lastSeenOf(account: AccountView, at: number, heardAt: number): LastSeen {
  const { userId, email, credit, creditAt, tfaStatus, spendPerHour, instances } = account
  return { at, heardAt, spendPerHour, instances, userId, email, credit, creditAt, tfaStatus }
}
