import type { AccountId } from '../../contract/ids.ts'
import type { Files } from '../../ports/files.ts'
import type { Machine } from '../../ports/machine.ts'
import type { ServiceClient } from '../../service/client.ts'
import type { Access } from '../access/access.ts'
import type { FileTransfers } from '../access/files/file-transfers.ts'
import type { Activity } from '../app/activity.ts'
import type { Demo } from '../app/demo.ts'
import { problemOf } from '../app/problems.ts'
import type { Notifications } from '../notifications/notifications.ts'
import type { Store } from '../state/store.ts'
import { type AccountKeys, accountKeys, shortLivedKeychain } from './account-keys.ts'
import { accountView } from './account-view.ts'
import { isPaused } from './pause.ts'
import type { SessionContext } from './session/context.ts'
import { openSession, type Session } from './session/session.ts'
import type { StoredAccount } from './stored-accounts.ts'

/** What all accounts have at hand, and whom they tell. */
export interface AccountsContext {
  store: Store
  machine: Machine
  activity: Activity
  notifications: Notifications
  access: Access
  fileTransfers: FileTransfers
  forProjects: SessionContext['forProjects']
  demo?: Demo
  /** An instance is away: nothing of it needs to stay open, but it may be there again. */
  onAway(account: AccountId, instance: number): void
  /** An instance is gone for good, or its account leaves Berth. */
  onGone(account: AccountId, instance: number): void
  onCreated(
    at: { account: AccountId; client: ServiceClient },
    instance: number,
    instanceKey: string | undefined,
  ): void
}

/** The sessions of the accounts, one each, and the keys they are begun with. */
export interface AccountSessions {
  find(id: AccountId): Session | undefined
  all(): readonly Session[]
  keysOf(account: Pick<StoredAccount, 'id' | 'baseUrl'>): AccountKeys
  /** Puts the account into State and begins its session. Never rejects: what keeps it from beginning locks it. */
  begin(account: StoredAccount): Promise<void>
  /** The same for the demo, whose things go with it. */
  beginDemo(demo: NonNullable<AccountsContext['demo']>): Promise<void>
  /** The key is what its account has from now on. Rejects when it cannot be kept. */
  useKey(account: StoredAccount, key: string): Promise<void>
  drop(id: AccountId): void
}

/** Milliseconds between polls of the demo, whose hours pass in minutes. */
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
      // Such as an address or a key that someone has changed by hand: it does not keep the others from starting.
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

  /** What to go on with once the service refuses the session of a two-factor login; undefined where there is none. */
  async function withoutSession(account: StoredAccount, refused: string): Promise<string | undefined> {
    const key = await keysOf(account).dropSession(refused)
    if (key !== undefined)
      activity.add({
        account: account.id,
        kind: 'berth',
        text: 'The session of the two-factor login has ended',
        detail: 'Berth goes on with the API key.',
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
