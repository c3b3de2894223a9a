import type { Files, Keychain, Platform } from '#platform/platform.ts'
import type { ServiceClient } from '#service/client.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Access } from '../access/access.ts'
import type { FileTransfers } from '../access/file-transfers.ts'
import type { Activity } from '../activity.ts'
import type { Notifications } from '../alerts/notifications.ts'
import { problemOf } from '../bridge/problems.ts'
import type { Demo } from '../demo.ts'
import type { Store } from '../storage/store.ts'
import { isPaused } from './pause-polling.ts'
import { openSession, type Session } from './session.ts'
import type { SessionContext } from './session-context.ts'
import { rememberedView, type StoredAccount } from './stored-accounts.ts'

/** Shared by the sessions of all accounts. */
export interface AccountsContext {
  store: Store
  platform: Platform
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  forProjects: SessionContext['forProjects']
  tellOf: SessionContext['tellOf']
  demo?: Demo
  /** An instance is missing: its connections can be closed, but it may return. */
  onAway(account: AccountId, instance: number): void
  /** An instance is permanently gone, or its account is removed. */
  onGone(account: AccountId, instance: number): void
  onCreated(
    at: { account: AccountId; client: ServiceClient },
    instance: number,
    instanceKey: string | undefined,
  ): void
}

export type AccountSessions = ReturnType<typeof createAccountSessions>

/** Milliseconds between polls of the demo, whose time runs faster. */
const demoInterval = 2000

/** The sessions of the accounts, one each, and their keys. */
export function createAccountSessions(context: AccountsContext) {
  const { store, platform, activity } = context
  const sessions = new Map<AccountId, Session>()
  const demoKeychain = shortLivedKeychain()
  const keychainOf = (id: AccountId) => (id === 'demo' ? demoKeychain : platform.keychain)
  const keysOf = (account: Pick<StoredAccount, 'id' | 'baseUrl'>) =>
    accountKeys(keychainOf(account.id), account)

  async function begin(account: StoredAccount, files: Files, rate?: number): Promise<void> {
    if (!store.get().accounts[account.id]) {
      const view = await rememberedView(files, account, platform.clock.now(), rate)
      store.change(draft => {
        draft.accounts[account.id] = view
      })
    }
    try {
      sessions.set(account.id, await open(account, files, rate))
      store.change(draft => {
        delete draft.accounts[account.id]?.opening
      })
    } catch (error) {
      // For example an address edited by the user. The other accounts still start.
      store.change(draft => {
        const view = draft.accounts[account.id]
        if (view) view.connection = { status: 'locked', problem: problemOf(error) }
      })
    }
  }

  function open(account: StoredAccount, files: Files, rate: number | undefined): Promise<Session> {
    return openSession(account, {
      store,
      platform,
      keychain: keychainOf(account.id),
      files,
      activity,
      notifications: context.notifications,
      access: context.access,
      fileTransfers: context.fileTransfers,
      forProjects: context.forProjects,
      tellOf: context.tellOf,
      isPaused: () => isPaused(store, platform.clock),
      pollInterval: () => (rate === undefined ? store.get().settings.pollInterval * 1000 : demoInterval),
      onAway: instance => context.onAway(account.id, instance),
      onGone: instance => context.onGone(account.id, instance),
      onCreated: (client, instance, instanceKey) =>
        context.onCreated({ account: account.id, client }, instance, instanceKey),
      ownKey: keysOf(account).toUse,
      anotherKey: refused => withoutSession(account, refused),
      rate,
    })
  }

  /** Drops a refused session of a two-factor login. Returns the API key, if there is another one. */
  async function withoutSession(account: StoredAccount, refused: string): Promise<string | undefined> {
    const key = await keysOf(account).dropSession(refused)
    if (key !== undefined)
      activity.add({
        account: account.id,
        kind: 'berth',
        text: 'The two-factor login has expired',
        detail: 'Berth continues with the API key.',
      })
    return key
  }

  return {
    find: (id: AccountId): Session | undefined => sessions.get(id),
    all: (): readonly Session[] => [...sessions.values()],
    keysOf,
    /** Adds the account to State and begins its session. Never rejects: an error locks the account. */
    begin: (account: StoredAccount): Promise<void> => begin(account, platform.files),
    /** The same for the demo, with separate files. */
    async beginDemo({ files, speed, start }: NonNullable<AccountsContext['demo']>): Promise<void> {
      const { baseUrl, key } = await start()
      const account = { id: 'demo', name: 'Demo', baseUrl }
      await keysOf(account).keepApiKey(key)
      await begin(account, files, speed)
    },
    /** Stores a new key for the account and uses it. Rejects when it cannot be stored. */
    async useKey(account: StoredAccount, key: string): Promise<void> {
      await keysOf(account).keepApiKey(key)
      const session = sessions.get(account.id)
      if (session) session.useKey(key)
      else await begin(account, platform.files)
    },
    drop: (id: AccountId): void => void sessions.delete(id),
  }
}

/**
 * An account's keys in the keychain: its API key, and the session key of a two-factor login (section 5.7), which is
 * preferred while the service accepts it. Each has its own entry.
 */
interface AccountKeys {
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

function accountKeys(keychain: Keychain, account: Pick<StoredAccount, 'id' | 'baseUrl'>): AccountKeys {
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
function shortLivedKeychain(): Keychain {
  const entries = new Map<string, string>()
  return {
    get: async name => entries.get(name),
    set: async (name, secret) => void entries.set(name, secret),
    delete: async name => void entries.delete(name),
  }
}

/** The keychain entry of an account's key. It includes the address, which the key belongs to. */
export function keyEntry(account: Pick<StoredAccount, 'id' | 'baseUrl'>): string {
  return `${account.baseUrl} ${account.id}`
}
