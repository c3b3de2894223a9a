import * as v from 'valibot'
import { AccountId } from '../../contract/ids.ts'

/** The accounts on disk. Their keys are in the keychain. */
export const StoredAccounts = v.object({
  shown: v.optional(AccountId),
  accounts: v.array(
    v.object({
      id: AccountId,
      name: v.string(),
      baseUrl: v.string(),
      userId: v.optional(v.number()),
    }),
  ),
})
export type StoredAccounts = v.InferOutput<typeof StoredAccounts>
export type StoredAccount = StoredAccounts['accounts'][number]

/** The keychain entry of an account's key. It includes the address, which the key belongs to. */
export function keyEntry(account: Pick<StoredAccount, 'id' | 'baseUrl'>): string {
  return `${account.baseUrl} ${account.id}`
}
