import * as v from 'valibot'
import { readLastSeen } from '#core/instances/last-seen.ts'
import type { Files } from '#platform/platform.ts'
import { describedCapabilities } from '#shared/account/capabilities.ts'
import { AccountId } from '#shared/ids.ts'
import type { AccountView } from '#shared/state.ts'
import { plainText } from '#shared/text.ts'

/** The accounts on disk. Their keys are in the keychain. */
export const StoredAccounts = v.object({
  shown: v.optional(AccountId),
  accounts: v.array(
    v.object({
      id: AccountId,
      name: v.pipe(v.string(), v.transform(plainText)),
      baseUrl: v.string(),
      userId: v.optional(v.number()),
      /**
       * Its removal has begun, or its key is not stored yet. Kept until all of it is deleted, or its key is there: the
       * next start deletes leftovers of a kill.
       */
      leaving: v.optional(v.boolean()),
    }),
  ),
})
export type StoredAccounts = v.InferOutput<typeof StoredAccounts>
export type StoredAccount = StoredAccounts['accounts'][number]

/**
 * An account in State before its first poll, as it was last seen. `now`: epoch milliseconds on this machine; `rate`: of
 * the account's time.
 */
export async function rememberedView(
  files: Files,
  { id, name, baseUrl, userId }: StoredAccount,
  now: number,
  rate = 1,
): Promise<AccountView> {
  const last = await readLastSeen(files, `accounts/${id}`)
  const { at, heardAt, ...seen } = last ?? {}
  return {
    id,
    name,
    baseUrl,
    demo: id === 'demo',
    connection: { status: 'connecting', ...(at !== undefined && { since: at, heardAt }) },
    clock: { serverAt: now, localAt: now, rate },
    capabilities: describedCapabilities,
    opening: true,
    spendPerHour: 0,
    instances: {},
    rentals: {},
    limits: {},
    failedMachines: {},
    recoveries: {},
    priceIncreases: {},
    notes: {},
    watches: {},
    tunnels: {},
    ways: {},
    gpuMemory: {},
    watchdogs: {},
    runs: {},
    sweeps: {},
    waiting: {},
    undoable: {},
    endings: {},
    deletions: {},
    transfers: {},
    fileTransfers: {},
    ...seen,
    userId: userId ?? last?.userId,
  }
}
