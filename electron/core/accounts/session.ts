import { setMaxListeners } from 'node:events'
import { createFolderSync } from '#core/access/folder-sync.ts'
import type { AccountContext } from '#core/account-context.ts'
import { brokenFileTeller } from '#core/alerts/broken-files.ts'
import { Deletions } from '#core/endings/deletions.ts'
import { Endings } from '#core/endings/perform.ts'
import { createAccountClock } from '#core/instances/account-clock.ts'
import type { KnownRecords } from '#core/instances/reconcile.ts'
import { createPoller } from '#core/instances/repeated-polls.ts'
import { secretsEntry } from '#core/market/request-secrets.ts'
import { type NotedKeychain, notedKeychain } from '#core/storage/noted-keychain.ts'
import { deferred, orAborted } from '#platform/tasks.ts'
import type { ServiceClient } from '#service/client.ts'
import { capabilitiesOf } from '#service/dialect.ts'
import type { Instance } from '#service/instances.ts'
import type { AccountId } from '#shared/ids.ts'
import type { AccountView } from '#shared/state.ts'
import { AccountPolls, untilNextPoll } from './account-polls.ts'
import { type Automations, openAutomations } from './automations.ts'
import { createConnectionStatus } from './connection-status.ts'
import { createKeyedClient, keyMissing } from './keyed-client.ts'
import { openSessionMemory, type SessionContext } from './session-context.ts'

/** One running account: its client, clock, polls and automations. */
export interface Session
  extends Pick<Automations, 'actions' | 'gpuMetrics' | 'loadHistory' | 'rentals' | 'transfers'> {
  readonly automations: Automations
  readonly id: AccountId
  /** Throws `key_missing` while there is no key. */
  readonly client: ServiceClient
  /** Stops and destroys the account's instances. */
  readonly endings: Endings
  /** Deletes its keys, volumes and networks. */
  readonly deletions: Deletions
  /** An instance's last record, including secrets. */
  record(instance: number): Instance | undefined
  /** Instances that are missing and whose data is kept. */
  departed(): readonly number[]
  /** Polls now, and resolves after that poll, even a failed one. Without a key it reads the keychain again. */
  poll(): Promise<void>
  /** Continues with another key for the same account. */
  useKey(key: string): void
  /** Deletes the secret values of rental requests, before the account is removed. */
  forgetSecrets(): Promise<void>
  /** The account's time, in epoch seconds. */
  now(): number
  /** Ends polling, and writes pending changes. */
  close(): Promise<void>
}

/** The account must be in State already. Without a key the session waits for one. */
export async function openSession(
  { id, baseUrl }: Pick<AccountView, 'id' | 'baseUrl'>,
  app: SessionContext,
): Promise<Session> {
  const { store, platform, files, activity, notifications, access, fileTransfers } = app
  const { clock, random } = platform
  const folder = `accounts/${id}`
  const onBroken = brokenFileTeller(app, id, () => store.get().accounts[id])
  const quitting = new AbortController()
  // Each part and each call that waits listens to it.
  setMaxListeners(0, quitting.signal)
  const stored = { account: id, store, platform, files, folder, onBroken, quitting: quitting.signal }
  const memory = await openSessionMemory(stored, app)
  const { lastSeen, missingInstances, dialect } = memory
  const { at: seenAt, heardAt } = lastSeen.get()
  const time = createAccountClock(clock, app.rate, seenAt)
  const records: KnownRecords = new Map()
  const connectionStatus = createConnectionStatus({
    account: id,
    store,
    activity,
    notifications,
    clock,
    seenAt,
    heardAt,
  })
  /** The end of the first poll with the present key, successful or not. */
  let firstPoll = deferred<void>()
  const client = createKeyedClient({ id, baseUrl }, app, memory, time, {
    mayCost: (instance, bid) => automations.ledger.mayCost(instance, bid),
    async hindrance() {
      // Until then it is unknown for whose account the service answers.
      await orAborted(firstPoll.promise, quitting.signal).catch(() => undefined)
      return connectionStatus.hindrance()
    },
  })
  const key = await app.ownKey()
  if (key !== undefined) client.use(key)

  const keychain = await notedKeychain(app.keychain, stored)
  const endingsContext = { ...stored, activity, notifications, client: client.get, now: time.now }
  const deletions = await Deletions.open(endingsContext)
  const endings = await Endings.open({
    ...endingsContext,
    poll: () => poller.poll(),
    onDestroyed: instance => {
      missingInstances.forgetDestroyed(instance)
      automations.ledger.ended(instance)
      notifications.gone(id, instance)
    },
  })
  const context: AccountContext = {
    ...stored,
    keychain,
    activity,
    notifications,
    endings,
    deletions,
    access,
    fileTransfers,
    sync: createFolderSync({
      connect: instance => access.connect({ account: id, instance, client: client.get() }),
      platform,
      files,
      folder,
      onBroken,
    }),
    client: client.get,
    record: instance => records.get(instance),
    now: time.now,
    newId: () => random.hex(16),
    poll: () => poller.poll(),
  }
  const automations = await openAutomations(context, app, memory.watchdogs)
  const { loadHistory, rentals, transfers, actions, gpuMetrics } = automations
  await keepSecretsOf(keychain, automations.secretOwners())

  function useKey(newKey: string): void {
    client.use(newKey)
    automations.money.keyChanged()
    begin()
    // Before that nothing is sent that changes something.
    void firstPoll?.promise.then(() => endings.keyChanged())
  }

  async function askForKey(): Promise<void> {
    const found = await app.ownKey()
    if (found !== undefined && !client.current && !quitting.signal.aborted) useKey(found)
  }

  function begin(): void {
    const polled = deferred<void>()
    firstPoll = polled
    connectionStatus.connecting()
    automations.resume()
    deletions.resume()
    poller.resume()
    void poller.poll().finally(polled.resolve)
  }

  const polls = new AccountPolls({
    id,
    app,
    client,
    time,
    memory,
    records,
    connectionStatus,
    automations,
    endings,
    quitting: quitting.signal,
    useKey,
  })
  const untilDue = () => ((automations.dueAt(time.now()) - time.now()) * 1000) / time.accountTime().rate
  const poller = createPoller({
    clock,
    poll: () => polls.poll(),
    interval: took => untilNextPoll(app.pollInterval(), took, untilDue()),
    // Not while something is being rented, which costs money and has to be followed.
    isSuspended: () => app.isPaused() && !rentals.underWay(),
    onPause: pause => connectionStatus.retriesAt(clock.now() + pause),
    random: random.fraction,
  })

  store.change(draft => {
    const target = draft.accounts[id]
    if (target) target.capabilities = capabilitiesOf(dialect.get())
  })
  endings.show()
  deletions.show()
  automations.show()
  if (key === undefined) {
    poller.pause()
    connectionStatus.locked(keyMissing(platform.keychain, seenAt === undefined))
  } else begin()

  return {
    id,
    get client() {
      return client.get()
    },
    automations,
    endings,
    deletions,
    loadHistory,
    rentals,
    transfers,
    actions,
    gpuMetrics,
    record: context.record,
    departed: missingInstances.kept,
    poll: () => (client.current ? poller.poll() : askForKey()),
    useKey,
    forgetSecrets: () => keepSecretsOf(keychain, []),
    now: time.now,
    async close() {
      await actions.sendAll()
      quitting.abort()
      polls.abort()
      poller.stop()
      // Disconnecting ends all work on instances, so that no host delays the end.
      const disconnected = access.disconnect(id)
      await Promise.all([
        disconnected,
        automations.flush(),
        endings.flush(),
        deletions.flush(),
        memory.flush(),
      ])
    },
  }
}

/** Deletes secrets that a kill left without an owner: after storing one, or before deleting it. */
function keepSecretsOf(keychain: NotedKeychain, owners: readonly string[]): Promise<void> {
  return keychain.keepOnly(new Set(owners.map(secretsEntry)))
}
