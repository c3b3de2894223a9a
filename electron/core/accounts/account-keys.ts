import type { Keychain } from '../../ports/keychain.ts'
import { keyEntry, type StoredAccount } from './stored-accounts.ts'

/**
 * The keys of one account in the keychain: its API key, and the session key that a two-factor login gave for it
 * (section 5.7), which is preferred for as long as the service takes it. Each has an entry of its own.
 */
export interface AccountKeys {
  /** The key to begin with; undefined where neither is at hand. */
  toUse(): Promise<string | undefined>
  /** Undefined where it is not at hand. */
  apiKey(): Promise<string | undefined>
  /** A new API key; the session of the one before is forgotten. Rejects when it cannot be kept. */
  keepApiKey(key: string): Promise<void>
  keepSession(key: string): Promise<void>
  /** The service refused a key: forgets the session. Gives the API key to go on with, unless it was that one. */
  dropSession(refused: string): Promise<string | undefined>
  forget(): Promise<void>
}

export function accountKeys(keychain: Keychain, account: Pick<StoredAccount, 'id' | 'baseUrl'>): AccountKeys {
  const entry = keyEntry(account)
  const sessionEntry = `${entry} session`
  const read = (name: string) => keychain.get(name).catch(() => undefined)
  const erase = (name: string) => keychain.delete(name).catch(() => undefined)
  return {
    toUse: async () => (await read(sessionEntry)) ?? (await read(entry)),
    apiKey: () => read(entry),
    async keepApiKey(key) {
      await keychain.set(entry, key)
      await erase(sessionEntry)
    },
    keepSession: key => keychain.set(sessionEntry, key),
    async dropSession(refused) {
      const key = await read(entry)
      if (key === refused) return undefined
      await erase(sessionEntry)
      return key
    },
    async forget() {
      await erase(sessionEntry)
      await erase(entry)
    },
  }
}

/** Where the demo's keys and secret values are: they go when Berth ends. */
export function shortLivedKeychain(): Keychain {
  const entries = new Map<string, string>()
  return {
    persistent: false,
    get: async name => entries.get(name),
    set: async (name, secret) => void entries.set(name, secret),
    delete: async name => void entries.delete(name),
  }
}
