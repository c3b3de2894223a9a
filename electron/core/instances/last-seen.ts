import * as v from 'valibot'
import type { InstanceView } from '../../contract/instance/instance.ts'
import type { AccountView } from '../../contract/state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Files } from '../../ports/files.ts'
import { type Document, openDocument } from '../storage/json-file.ts'

/**
 * What an account looked like last, as the page saw it: what is shown until the first answer of the next session,
 * and what spending and histories go on from. Views hold no secrets.
 */
export interface LastSeen {
  /** Epoch seconds of the account's time. */
  at?: number
  userId?: number
  email?: string
  credit?: number
  creditAt?: number
  tfaStatus?: string
  spendPerHour: number
  instances: Record<string, InstanceView>
}

/** As it is kept: enough of it is checked for a broken file to be told. */
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
  userId: v.optional(v.number()),
  email: v.optional(v.string()),
  credit: v.optional(v.number()),
  creditAt: v.optional(v.number()),
  tfaStatus: v.optional(v.string()),
  spendPerHour: v.number(),
  instances: v.record(v.string(), InstanceShape),
})

export function openLastSeen(
  files: Files,
  clock: Clock,
  name: string,
  onBroken: (setAside: string) => void,
): Promise<Document<LastSeen>> {
  return openDocument({
    files,
    clock,
    name,
    schema: LastSeenShape,
    empty: { spendPerHour: 0, instances: {} },
    onBroken,
  })
}

/** What of the account is worth keeping. */
export function lastSeenOf(account: AccountView, at: number): LastSeen {
  const { userId, email, credit, creditAt, tfaStatus, spendPerHour, instances } = account
  return { at, spendPerHour, instances, userId, email, credit, creditAt, tfaStatus }
}
