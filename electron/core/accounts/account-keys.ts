import type { Keychain } from '#machine/machine.ts'
import { keyEntry, type StoredAccount } from './stored-accounts.ts'

/**
 * An account's keys in the keychain: its API key, and the session key of a two-factor login (section 5.7), which is
 * preferred while the service accepts it. Each has its own entry.
 */
export interface AccountKeys {
  /** The key to start with; undefined where neither can be read. */
  toUse(): Promise<string | undefined>
  /** Undefined where it cannot be read. */
  apiKey(): Promise<string | undefined>
  /** Stores a new API key and deletes the session of the previous one. Rejects when it cannot be stored. */
  keepApiKey(key: string): Promise<void>
  keepSession(key: string): Promise<void>
  /** Call when the service refused a key: deletes the session. Returns the API key, unless that was the refused one. */
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

/** The keychain of the demo, in memory only. */
export function shortLivedKeychain(): Keychain {
  const entries = new Map<string, string>()
  return {
    persistent: false,
    get: async name => entries.get(name),
    set: async (name, secret) => void entries.set(name, secret),
    delete: async name => void entries.delete(name),
  }
}
