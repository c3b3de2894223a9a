import * as v from 'valibot'
import { AccountId } from '#contract/ids.ts'

/** The accounts on disk. Their keys are in the keychain. */
export const StoredAccounts = v.object({
  shown: v.optional(AccountId),
  accounts: v.array(
    v.object({
      id: AccountId,
      name: v.string(),
      baseUrl: v.string(),
      userId: v.optional(v.number()),
      /**
       * Its removal has begun, or its key is not stored yet. Kept until all of it is deleted, or its key is there: what a
       * kill leaves of it is deleted by the next start.
       */
      leaving: v.optional(v.boolean()),
    }),
  ),
})
export type StoredAccounts = v.InferOutput<typeof StoredAccounts>
export type StoredAccount = StoredAccounts['accounts'][number]

/** The keychain entry of an account's key. It includes the address, which the key belongs to. */
export function keyEntry(account: Pick<StoredAccount, 'id' | 'baseUrl'>): string {
  return `${account.baseUrl} ${account.id}`
}
