import type { AccountId } from '#contract/ids.ts'
import type { Files, Machine } from '#machine/machine.ts'
import type { ServiceClient } from '#service/client.ts'
import type { Access } from '../access/access.ts'
import type { FileTransfers } from '../access/files/file-transfers.ts'
import type { Notifications } from '../alerts/notifications.ts'
import type { Activity } from '../app/activity.ts'
import type { Demo } from '../app/demo.ts'
import { problemOf } from '../app/problems.ts'
import type { Store } from '../state/store.ts'
import { type AccountKeys, accountKeys, shortLivedKeychain } from './account-keys.ts'
import { accountView } from './account-view.ts'
import { isPaused } from './pause.ts'
import type { SessionContext } from './session/context.ts'
import { openSession, type Session } from './session/session.ts'
import type { StoredAccount } from './stored-accounts.ts'

/** What the sessions of all accounts share. */
export interface AccountsContext {
  store: Store
  machine: Machine
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  forProjects: SessionContext['forProjects']
  demo?: Demo
  /** An instance is missing: its connections can be closed, but it may return. */
  onAway(account: AccountId, instance: number): void
  /** An instance is gone for good, or its account is removed. */
  onGone(account: AccountId, instance: number): void
  onCreated(
    at: { account: AccountId; client: ServiceClient },
    instance: number,
    instanceKey: string | undefined,
  ): void
}

/** The sessions of the accounts, one each, and their keys. */
export interface AccountSessions {
  find(id: AccountId): Session | undefined
  all(): readonly Session[]
  keysOf(account: Pick<StoredAccount, 'id' | 'baseUrl'>): AccountKeys
  /** Adds the account to State and begins its session. Never rejects: an error locks the account. */
  begin(account: StoredAccount): Promise<void>
  /** The same for the demo, with files of its own. */
  beginDemo(demo: NonNullable<AccountsContext['demo']>): Promise<void>
  /** Stores a new key for the account and uses it. Rejects when it cannot be stored. */
  useKey(account: StoredAccount, key: string): Promise<void>
  drop(id: AccountId): void
}

/** Milliseconds between polls of the demo, whose time runs faster. */
const demoInterval = 2000

export function createAccountSessions(context: AccountsContext): AccountSessions {
  const { store, machine, activity } = context
  const sessions = new Map<AccountId, Session>()
  const demoKeychain = shortLivedKeychain()
  const keychainOf = (id: AccountId) => (id === 'demo' ? demoKeychain : machine.keychain)
  const keysOf = (account: Pick<StoredAccount, 'id' | 'baseUrl'>) =>
    accountKeys(keychainOf(account.id), account)

  async function begin(account: StoredAccount, files: Files, rate?: number): Promise<void> {
    store.change(draft => {
      draft.accounts[account.id] = accountView(account, machine.clock.now(), rate)
    })
    try {
      sessions.set(account.id, await open(account, files, rate))
    } catch (error) {
      // Such as an address that was edited by hand: the other accounts start nevertheless.
      store.change(draft => {
        const view = draft.accounts[account.id]
        if (view) view.connection = { status: 'locked', problem: problemOf(error) }
      })
    }
  }

  function open(account: StoredAccount, files: Files, rate: number | undefined): Promise<Session> {
    return openSession(account, {
      store,
      machine,
      keychain: keychainOf(account.id),
      files,
      activity,
      notifications: context.notifications,
      access: context.access,
      fileTransfers: context.fileTransfers,
      forProjects: context.forProjects,
      isPaused: () => isPaused(store, machine.clock),
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
    find: id => sessions.get(id),
    all: () => [...sessions.values()],
    keysOf,
    begin: account => begin(account, machine.files),
    async beginDemo({ files, speed, start }) {
      const { baseUrl, key } = await start()
      const account = { id: 'demo', name: 'Demo', baseUrl }
      await keysOf(account).keepApiKey(key)
      await begin(account, files, speed)
    },
    async useKey(account, key) {
      await keysOf(account).keepApiKey(key)
      const session = sessions.get(account.id)
      if (session) session.useKey(key)
      else await begin(account, machine.files)
    },
    drop: id => void sessions.delete(id),
  }
}
