import { createHash } from 'node:crypto'
import type { AccountId } from '#contract/ids.ts'
import { BerthError } from '#contract/problem.ts'
import { type BaseUrl, parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { identify, identifyOrLogin } from '#service/identify.ts'
import type { Document } from '../storage/json-file.ts'
import type { AccountSessions, AccountsContext, StoredAccount, StoredAccounts } from './account-sessions.ts'

/** Stores the keys of accounts after the service has identified their users. */
export interface Connecting {
  /**
   * Checks the key against the current user, and stores both. The same user at the same address gets the new key. A key
   * that only allows two-factor calls is stored without a user: the login that follows shows it.
   */
  connect(baseUrl: string, key: string, name: string | undefined): Promise<AccountId>
  /** Throws `other_user` for another user's key. */
  replaceKey(account: StoredAccount, key: string): Promise<void>
}

export function createConnecting(
  { machine, activity }: Pick<AccountsContext, 'machine' | 'activity'>,
  document: Document<StoredAccounts>,
  { keysOf, begin, useKey }: AccountSessions,
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Connecting {
  const clientFor = (baseUrl: BaseUrl, key: string) =>
    createClient({ baseUrl, key, clock: machine.clock, random: machine.random.fraction })

  /** Stores both key and account, or neither. */
  async function keep(account: StoredAccount, key: string): Promise<void> {
    const without = (kept: StoredAccounts) => kept.accounts.filter(({ id }) => id !== account.id)
    const put = (put: StoredAccount) =>
      document.write(kept => ({ ...kept, accounts: [...without(kept), put] }))
    // Noted first, so that after a kill in between the next start deletes the key.
    await put({ ...account, leaving: true })
    try {
      await keysOf(account).keepApiKey(key)
      await put(account)
    } catch (error) {
      await keysOf(account).forget()
      await document.record(kept => ({ ...kept, accounts: without(kept) }))
      throw error
    }
  }

  /** The same for the same user again: if the list of accounts was lost, its limits and runs are found by it. */
  function newId({ baseUrl, userId }: Omit<StoredAccount, 'id'>): AccountId {
    const id = `a${createHash('sha256').update(`${baseUrl} ${userId}`).digest('hex').slice(0, 8)}`
    const isFree = userId !== undefined && document.get().accounts.every(kept => kept.id !== id)
    return isFree ? id : `a${machine.random.hex(8)}`
  }

  /** Updates the account of the same user at the same address, or adds one. */
  async function connectUser(user: Omit<StoredAccount, 'id'>, key: string): Promise<AccountId> {
    const { baseUrl, userId } = user
    const same = document
      .get()
      .accounts.find(kept => kept.baseUrl === baseUrl && kept.userId === userId && !kept.leaving)
    if (same) {
      await useKey(same, key)
      return same.id
    }
    const account = { id: newId(user), ...user }
    await keep(account, key)
    await begin(account)
    activity.add({
      account: account.id,
      kind: 'user',
      text: `Connected ${account.name}`,
      detail: baseUrl,
    })
    return account.id
  }

  return {
    async connect(baseUrlText, key, name) {
      const baseUrl = parseBaseUrl(baseUrlText)
      const user = await identifyOrLogin(clientFor(baseUrl, key), { retries: 1 })
      const connected = { name: name ?? new URL(baseUrl).host, baseUrl, userId: user?.id }
      return inTurn(() => connectUser(connected, key))
    },
    async replaceKey(account, key) {
      const { id, baseUrl, userId } = account
      const user = await identify(clientFor(parseBaseUrl(baseUrl), key), { retries: 1 })
      if (userId !== undefined && user.id !== userId)
        throw new BerthError({
          code: 'other_user',
          message: `That key belongs to user ${user.id}, but this account is user ${userId}.`,
          advice: 'Enter a key of the same user, or connect the other user as a separate account.',
          field: 'key',
        })
      await useKey(account, key)
      activity.add({ account: id, kind: 'user', text: 'Replaced the API key' })
    },
  }
}
