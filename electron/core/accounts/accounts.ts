import { createHash } from 'node:crypto'
import type { Files } from '#platform/platform.ts'
import { oneAtATime } from '#platform/tasks.ts'
import { type BaseUrl, parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { identify, identifyOrLogin } from '#service/identify.ts'
import { demosOwnKey } from '#shared/deletions.ts'
import type { AccountId } from '#shared/ids.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import { brokenFileTeller } from '../alerts/broken-files.ts'
import { type Document, openDocument } from '../storage/json-file.ts'
import { type AccountSessions, type AccountsContext, createAccountSessions } from './account-sessions.ts'
import { isPaused } from './pause-polling.ts'
import type { Session } from './session.ts'
import { type StoredAccount, StoredAccounts } from './stored-accounts.ts'

export type Accounts = Awaited<ReturnType<typeof openAccounts>>

/** Berth's accounts. All are polled and alerted on, with their limits kept; the page shows one. */
export async function openAccounts(context: AccountsContext) {
  const { store, platform, activity, demo } = context
  const place = { files: platform.files, platform, onBroken: brokenFileTeller(context) }
  const document = await openDocument(place, 'accounts', StoredAccounts, { accounts: [] })
  const sessions = createAccountSessions(context)
  const { keysOf, begin } = sessions
  /** One connection at a time, so that connecting the same user twice cannot make two accounts. */
  const inTurn = oneAtATime()

  async function showId(id: AccountId | undefined): Promise<void> {
    store.change(draft => {
      if (id === undefined) delete draft.shown
      else draft.shown = id
    })
    if (id === 'demo') return
    await document.write(({ shown: _, ...stored }) => (id === undefined ? stored : { ...stored, shown: id }))
  }

  function existing(id: AccountId): AccountView {
    const account = store.get().accounts[id]
    if (!account) throw new BerthError(noSuchAccount)
    return account
  }

  async function remove(id: AccountId): Promise<void> {
    const { baseUrl, name } = existing(id)
    if (id === 'demo')
      throw new BerthError({ code: 'demo_stays', message: 'The demo is removed when you quit Berth.' })
    await document.write(stored => ({
      ...stored,
      accounts: stored.accounts.map(account => (account.id === id ? { ...account, leaving: true } : account)),
    }))
    const session = sessions.find(id)
    if (session) await endForGood(session)
    sessions.drop(id)
    const shown = Object.keys(store.get().accounts[id]?.instances ?? {}).map(Number)
    for (const instance of [...shown, ...(session?.departed() ?? [])]) context.onGone(id, instance)
    await context.notifications.withdrawAccount(id)
    await keysOf({ id, baseUrl }).forget()
    const next = Object.keys(store.get().accounts).find(other => other !== id)
    store.change(draft => {
      delete draft.accounts[id]
    })
    if (store.get().shown === id) await showId(next)
    // After this point nothing connects any more, which would create the account's SSH key again.
    await context.access.forgetAccount(id).catch(() => undefined)
    await deleteFolder(platform.files, id)
    await document.record(stored => ({
      ...stored,
      accounts: stored.accounts.filter(account => account.id !== id),
    }))
    activity.add({ kind: 'user', text: `Removed ${name} from Berth`, detail: 'Its instances keep running.' })
  }

  const { accounts, shown } = document.get()
  const staying = accounts.filter(({ leaving }) => !leaving)
  await Promise.all(accounts.map(begin))
  if (demo?.atStart) await sessions.beginDemo(demo)
  const first = demo?.atStart ? 'demo' : staying.some(({ id }) => id === shown) ? shown : staying[0]?.id
  store.change(draft => {
    if (first !== undefined) draft.shown = first
  })

  for (const { id, leaving } of accounts) if (leaving) void remove(id).catch(() => undefined)

  const pollNow = () => {
    for (const session of sessions.all()) void session.poll()
  }
  // At a login the keychain may start after Berth or wait for the user; once it answers, the keys can be read.
  const { keychain } = platform
  keychain.onChange?.(() => {
    if (keychain.problem === undefined && !isPaused(store, platform.clock)) pollNow()
  })

  const connecting = createConnecting(context, document, sessions, inTurn)

  return {
    /** The session of an account, by default of the shown one. Throws `no_such_account`. */
    session(id: AccountId | undefined): Session {
      const session = sessions.find(id ?? store.get().shown ?? '')
      if (!session) throw new BerthError(noSuchAccount)
      return session
    },
    find: (id: AccountId): Session | undefined => sessions.find(id),
    async connect(baseUrl: string, key: string, name: string | undefined): Promise<AccountId> {
      const id = await connecting.connect(baseUrl, key, name)
      await showId(id)
      return id
    },
    /** Adds an account of another Berth, which asks for its key; shown where there was none, or only the demo. */
    async addWithoutKey(account: Omit<StoredAccount, 'id'>): Promise<void> {
      const id = await connecting.addWithoutKey(account)
      const { shown } = store.get()
      if (shown === undefined || shown === 'demo') await showId(id)
    },
    /** Throws `demo_stays`, or `other_user` for another user's key. */
    async replaceKey(id: AccountId, key: string): Promise<void> {
      const { name, baseUrl, userId } = existing(id)
      if (id === 'demo') throw new BerthError({ code: 'demo_stays', message: demosOwnKey })
      await connecting.replaceKey({ id, name, baseUrl, userId }, key)
    },
    /** Uses the session key of a two-factor login, which is stored beside the API key and preferred to it. */
    async useSessionKey(id: AccountId, key: string): Promise<void> {
      const saving = keysOf(existing(id)).keepSession(key)
      // The login cannot be repeated, so its session key is used even where it cannot be stored.
      await saving.catch(() =>
        activity.add({
          account: id,
          kind: 'error',
          text: 'The login couldn’t be saved in the keychain',
          detail: 'It’s kept in memory until you quit.',
        }),
      )
      sessions.find(id)?.useKey(key)
      activity.add({ account: id, kind: 'user', text: 'Logged in with two factors' })
    },
    /** The stored API key; undefined where it cannot be read. */
    apiKey: (id: AccountId): Promise<string | undefined> => keysOf(existing(id)).apiKey(),
    async rename(id: AccountId, name: string): Promise<void> {
      existing(id)
      await document.write(stored => ({
        ...stored,
        accounts: stored.accounts.map(account => (account.id === id ? { ...account, name } : account)),
      }))
      store.change(draft => {
        const account = draft.accounts[id]
        if (account) account.name = name
      })
    },
    remove,
    async show(id: AccountId): Promise<void> {
      existing(id)
      await showId(id)
    },
    /** Starts the demo unless it runs, and shows it. Throws `no_demo` where there is none. */
    showDemo: (): Promise<void> =>
      inTurn(async () => {
        if (!demo) throw new BerthError({ code: 'no_demo', message: 'This Berth has no demo.' })
        if (!sessions.find('demo')) await sessions.beginDemo(demo)
        await showId('demo')
      }),
    pollNow,
    /** The computer is about to sleep. */
    beforeSleep(): void {
      for (const { actions } of sessions.all()) actions.sendStops()
    },
    async close(): Promise<void> {
      await Promise.all(sessions.all().map(session => session.close()))
      await document.flush()
    },
  }
}

const noSuchAccount: Problem = {
  code: 'no_such_account',
  message: 'That account was removed.',
  advice: 'Connect one in Settings.',
}

/** Ends a removed account's session, and deletes its remote and keychain entries, which only it can find. */
async function endForGood(session: Session): Promise<void> {
  await session.transfers.deleteKeys()
  await session.close()
  // Runs may be followed, and their output stored, until the session is closed.
  await session.automations.runs.deleteOutputs()
  await session.forgetSecrets()
}

/** Deletes all files in the account's folder. */
async function deleteFolder(files: Pick<Files, 'list' | 'delete'>, id: AccountId): Promise<void> {
  const folder = `accounts/${id}`
  const left = await files.list(folder).catch(() => [])
  await Promise.all(left.map(({ name }) => files.delete(`${folder}/${name}`).catch(() => undefined)))
}

/** Stores the keys of accounts after the service has identified their users. */
function createConnecting(
  { platform, activity }: Pick<AccountsContext, 'platform' | 'activity'>,
  document: Document<StoredAccounts>,
  { keysOf, begin, useKey }: AccountSessions,
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>,
) {
  const clientFor = (baseUrl: BaseUrl, key: string) =>
    createClient({ baseUrl, key, clock: platform.clock, random: platform.random.fraction })

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
    return isFree ? id : `a${platform.random.hex(8)}`
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
    /**
     * Checks the key against the current user, and stores both. The same user at the same address gets the new key. A key
     * that only allows two-factor calls is stored without a user: the login that follows shows it.
     */
    async connect(baseUrlText: string, key: string, name: string | undefined): Promise<AccountId> {
      const baseUrl = parseBaseUrl(baseUrlText)
      const user = await identifyOrLogin(clientFor(baseUrl, key), { retries: 1 })
      const connected = { name: name ?? new URL(baseUrl).host, baseUrl, userId: user?.id }
      return inTurn(() => connectUser(connected, key))
    },
    addWithoutKey: (user: Omit<StoredAccount, 'id'>): Promise<AccountId> =>
      inTurn(async () => {
        const account = { id: newId(user), ...user }
        await document.write(kept => ({ ...kept, accounts: [...kept.accounts, account] }))
        await begin(account)
        return account.id
      }),
    /** Throws `other_user` for another user's key. */
    async replaceKey(account: StoredAccount, key: string): Promise<void> {
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
