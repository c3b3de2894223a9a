import type { AccountId } from '../../contract/ids.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import { BerthError } from '../../contract/problem.ts'
import type { AccountView } from '../../contract/state.ts'
import { parseBaseUrl } from '../../service/base-url.ts'
import { createClient, type ServiceClient } from '../../service/client.ts'
import { requestClock } from '../../service/http/clock.ts'
import type { Instance } from '../../service/instances.ts'
import { createFolderSync } from '../access/files/folder-sync.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { openUndoableActions, type UndoableActions } from '../actions/undoable-actions.ts'
import { questionInside } from '../guards/gpu-loads.ts'
import { openStoredWatchdogs } from '../guards/watchdog/stored-watchdogs.ts'
import { lastSeenOf, openLastSeen } from '../instances/last-seen.ts'
import { createLoadHistory, type LoadHistory } from '../instances/load-history.ts'
import { openMissingInstances } from '../instances/missing-instances.ts'
import { notingAsked } from '../instances/noting-asked.ts'
import { createAccountClock } from '../instances/polling/account-clock.ts'
import { askForOne, pollAccount, userFields } from '../instances/polling/poll.ts'
import { type CertainPoll, type Expected, pollAll } from '../instances/polling/poll-all.ts'
import { createPoller, KeyRefused, unwell } from '../instances/polling/poller.ts'
import { goesBeyond } from '../instances/project.ts'
import { type Changes, compareInstances, followsOn, type KnownRecords } from '../instances/reconcile.ts'
import { openAccountAlerts } from '../notifications/account-alerts.ts'
import { goneAlert } from '../notifications/alerts.ts'
import { secretsEntry } from '../renting/rentals/secrets.ts'
import { openRentals, type Rentals } from '../renting/rentals/service.ts'
import { notedKeychain } from '../storage/noted-keychain.ts'
import { openTransfers, type Transfers } from '../transfers/service.ts'
import { type Automations, openAutomations } from './automations.ts'
import { createConnectionStatus } from './connection-status.ts'
import { createGpuLooks, type GpuLooks } from './gpu-looks.ts'
import { keyMissing } from './key-missing.ts'
import { isPaused } from './pause.ts'
import { openFace } from './service-face.ts'
import type { SessionContext } from './session-context.ts'
import { showPoll } from './show-poll.ts'

/** One account while Berth runs: its client, its clock, its polling and its rentals. */
export interface Session {
  readonly id: AccountId
  /** Throws `key_missing` while there is no key. */
  readonly client: ServiceClient
  readonly rentals: Rentals
  readonly transfers: Transfers
  readonly automations: Automations
  readonly actions: UndoableActions
  readonly loadHistory: LoadHistory
  readonly gpuLooks: GpuLooks
  /** The record of an instance as it came last, secrets and all. */
  record(instance: number): Instance | undefined
  /** Instances that are not there any more, and of which something is kept. */
  departed(): readonly number[]
  /** Looks at once; resolves when that look has ended, well or not. Without a key it does nothing. */
  look(): Promise<void>
  /** Another key for the same account. */
  useKey(key: string): void
  /** Before the account leaves Berth: no secret value of what it was to rent stays in the keychain. */
  forgetSecrets(): Promise<void>
  /** The account's time, in epoch seconds. */
  now(): number
  /** Ends polling, and writes what waits to be written. */
  close(): Promise<void>
}

/** The account must be in State already. Without a key it waits for `useKey`. */
export async function openSession(
  { id, baseUrl }: Pick<AccountView, 'id' | 'baseUrl'>,
  key: string | undefined,
  app: SessionContext,
): Promise<Session> {
  const { store, machine, files, activity, notifications } = app
  const { clock } = machine
  const folder = `accounts/${id}`
  const onBroken = (setAside: string) =>
    activity.add({
      account: id,
      kind: 'error',
      text: `A file of this account could not be read and was set aside as ${setAside}`,
    })
  const kept = { files, clock, onBroken }
  const { onAway, onGone } = app
  const [alerts, lastSeen, missingInstances, face] = await Promise.all([
    openAccountAlerts({ ...kept, name: `${folder}/told.json` }, notifications),
    openLastSeen(files, clock, `${folder}/last-seen.json`, onBroken),
    openMissingInstances({ ...kept, name: `${folder}/departed.json`, onAway, onVanished, onGone }),
    openFace({ ...kept, name: `${folder}/service.json` }),
  ])

  const time = createAccountClock(clock, app.rate)
  const records: KnownRecords = new Map()
  const loadHistory = createLoadHistory()
  const ending = new AbortController()
  const stored = { account: id, store, machine, files, folder, onBroken, ending: ending.signal }
  const watchdogs = await openStoredWatchdogs(stored)
  let inUse = key
  let client = key === undefined ? undefined : clientFor(key)
  let polling: AbortController | undefined
  let creditToldAt = lastSeen.get().creditAt ?? lastSeen.get().at
  let seenAt = lastSeen.get().at
  const connectionStatus = createConnectionStatus({
    account: id,
    store,
    activity,
    notifications,
    seenAt: lastSeen.get().at,
  })

  const account = () => store.get().accounts[id]

  /** A watchdog that may have destroyed it tells so itself. */
  function onVanished(view: InstanceView): void {
    const isWatchdogs = watchdogs.find(view.id)?.wish.action === 'destroy'
    if (!isWatchdogs && store.get().settings.alerts.hostGone) notifications.tell(id, [goneAlert(id, view)])
  }

  function clientFor(withKey: string): ServiceClient {
    const client = createClient({
      baseUrl: parseBaseUrl(baseUrl),
      key: withKey,
      clock: requestClock(clock),
      random: machine.random.fraction,
      onAnswer: sample => time.learn(sample),
      face,
      onOffers(beyondInterface) {
        face.offersSeen(beyondInterface)
        if (beyondInterface && account()?.beyondInterface === false)
          store.change(draft => void Object.assign(draft.accounts[id] ?? {}, { beyondInterface }))
      },
    })
    return notingAsked(missingInstances.noting(client), {
      account: id,
      store,
      lastSeen,
      now: time.now,
      onEnd: watchdogs.endsHere,
    })
  }

  function withKey(): ServiceClient {
    if (!client) throw new BerthError(keyMissing(machine.keychain))
    return client
  }

  const place = { files, clock, name: `${folder}/secrets.json`, onBroken }
  const keychain = await notedKeychain(app.keychain, place)

  const context: AccountContext = {
    ...stored,
    keychain,
    activity,
    notifications,
    access: app.access,
    fileTransfers: app.fileTransfers,
    sync: createFolderSync({
      connect: instance => app.access.connect({ account: id, instance, client: withKey() }),
      machine,
      files,
      folder,
      onBroken,
    }),
    client: withKey,
    record: (instance: number) => records.get(instance),
    now: time.now,
    newId: () => machine.random.hex(16),
    poll: () => poller.look(),
  }
  const rentals = await openRentals(context, {
    onCreated: (instance, instanceKey) => app.onCreated(withKey(), instance, instanceKey),
    guard: (...chosen) => automations.guards.guardRental(...chosen),
  })
  const transfers = await openTransfers(context)
  const automations = await openAutomations(context, rentals, watchdogs, app.forProjects)
  const actions = await openUndoableActions(context)
  const gpuLooks = createGpuLooks(context, loadHistory, questionInside(context))
  await keepSecretsOf([...rentals.secretOwners(), ...automations.secretOwners()])

  /** Killed between keeping a secret and the wish that it was for, or its end, nobody would ever delete it. */
  function keepSecretsOf(owners: readonly string[]): Promise<void> {
    return keychain.keepOnly(new Set(owners.map(secretsEntry)))
  }

  async function poll(): Promise<void> {
    const asked = withKey()
    // One of its own for each look: signals that live long gather listeners.
    polling = new AbortController()
    const { signal } = polling
    const questions = {
      look: (anew: boolean) => pollAccount(asked, signal, anew),
      one: (instance: number) => askForOne(asked, instance, signal),
    }
    const look = await pollAll(questions, expected)
    // What a key that was replaced meanwhile got to hear says nothing.
    if (ending.signal.aborted || asked !== client) return
    if (look.outcome !== 'seen') return failed(look)
    await seen(look)
    if (look.failed) throw unwell(look.failed)
  }

  /** The instances that an answer should have: those that are shown, and those that were rented. */
  function expected(): readonly Expected[] {
    const view = account()
    if (!view) return []
    const guarded = new Set(Object.values(view.guards).map(({ instance }) => instance))
    const shown = missingInstances.expected(view.instances)
    const awaited = rentals.awaited().filter(({ instance }) => !(instance in view.instances))
    return [
      ...shown.map(id => ({ id, isGuarded: guarded.has(id) })),
      ...awaited.map(({ instance, createdAt }) => ({
        id: instance,
        isYoung: time.now() - createdAt < youngFor,
      })),
    ]
  }

  const expectedTraffic = (instance: number) => rentals.ofInstance(instance)?.request.traffic

  async function seen({ user, listing, limitation }: SeenPoll): Promise<void> {
    const before = account()
    if (!before) return
    const at = time.now()
    const { instances: shown } = before
    const interval = (app.pollInterval() * time.told().rate) / 1000
    const lastPoll = { at: seenAt, unbroken: followsOn(seenAt, at, interval) }
    if (listing && listing.doubt === undefined) seenAt = at
    const changes = listing
      ? compareInstances(records, shown, listing, at, missingInstances.lastView, lastPoll, expectedTraffic)
      : unknownInstances
    const fields: Partial<ReturnType<typeof userFields>> = user ? userFields(user) : {}
    if (fields.credit !== undefined) creditToldAt = at
    const found = {
      changes,
      fields,
      clock: time.told(),
      limitation,
      uncertain: listing?.doubt === undefined ? undefined : uncertainOf(listing.doubt, listing.unconfirmed),
      creditToldAt: creditToldAt ?? at,
      beyondInterface:
        face.beyondInterface() ||
        (listing ? listing.instances.some(goesBeyond) : before.beyondInterface === true),
    }
    store.change(draft => showPoll(draft, before, found))
    connectionStatus.seen(before.connection, at)
    connectionStatus.certain(before.uncertain?.reason, found.uncertain?.reason)
    const unconfirmed = new Set(listing?.unconfirmed)
    if (listing)
      missingInstances.onPoll({ shown, gone: changes.gone, there: listing.instances, unconfirmed, at })
    const after = account()
    if (!after) return
    if (listing) {
      loadHistory.onPoll(after.instances, at)
      rentals.onPoll(after.instances, listing.instances, unconfirmed)
      transfers.onPoll(after.instances)
      const look: AccountPoll = {
        account: after,
        records: listing.instances,
        unconfirmed,
        at,
        blur: time.blur(),
        credit: fields.credit,
      }
      automations.onPoll(look)
      actions.onPoll(look)
      gpuLooks.onPoll(after)
    }
    if (after !== before) lastSeen.writeSoon(() => lastSeenOf(account() ?? after, at))
    await alerts.onPoll(after, store.get().settings, at)
  }

  async function failed(look: Exclude<CertainPoll, { outcome: 'seen' }>): Promise<void> {
    const { problem } = look
    if (look.outcome === 'refused') {
      if (connectionStatus.doubted()) throw new KeyRefused(problem.code)
      const other = await app.anotherKey(inUse ?? '')
      if (ending.signal.aborted) return
      if (other !== undefined) return goOnWith(other)
      connectionStatus.refused(problem)
      throw new KeyRefused(problem.code)
    }
    connectionStatus.offline(problem, look.status)
    throw unwell(look)
  }

  function goOnWith(newKey: string): void {
    inUse = newKey
    client = clientFor(newKey)
    automations.money.keyChanged()
    connectionStatus.connecting()
    begin()
  }

  const poller = createPoller({
    clock,
    poll,
    interval: untilNextPoll,
    // What is being rented costs: it is watched to its end all the same.
    held: () => isPaused(store, clock) && !rentals.underWay() && !automations.failovers.underWay(),
    random: machine.random.fraction,
  })

  /**
   * Milliseconds: polls begin an interval apart, but a slow one is followed by half of it at the least. Earlier where
   * something is due before.
   */
  function untilNextPoll(took: number): number {
    const interval = Math.max(app.pollInterval() - took, app.pollInterval() / 2)
    const until = ((automations.dueAt(time.now()) - time.now()) * 1000) / time.told().rate
    return until <= 0 ? interval : Math.min(interval, Math.max(soonestPoll, until))
  }

  function begin(): void {
    rentals.show()
    rentals.resume()
    transfers.show()
    transfers.resume()
    automations.resume()
    actions.resume()
    poller.resume()
    void poller.look()
  }

  const { at: _, ...remembered } = lastSeen.get()
  store.change(draft => {
    const target = draft.accounts[id]
    if (target) Object.assign(target, remembered, { beyondInterface: face.beyondInterface() })
  })
  if (key === undefined) {
    poller.pause()
    connectionStatus.locked(keyMissing(machine.keychain))
  } else {
    connectionStatus.connecting()
    begin()
  }

  return {
    id,
    get client() {
      return withKey()
    },
    rentals,
    transfers,
    automations,
    actions,
    loadHistory,
    gpuLooks,
    record: context.record,
    departed: missingInstances.kept,
    look: async () => {
      if (client) await poller.look()
    },
    useKey: goOnWith,
    forgetSecrets: () => keepSecretsOf([]),
    now: time.now,
    async close() {
      await actions.sendAll()
      ending.abort()
      polling?.abort()
      poller.stop()
      // What runs on an instance ends with its connection: no host can hold up the end.
      const disconnected = app.access.disconnect(id)
      await Promise.all([
        disconnected,
        rentals.flush(),
        transfers.flush(),
        automations.flush(),
        actions.flush(),
        alerts.flush(),
        missingInstances.flush(),
        face.flush(),
        lastSeen.flush(),
      ])
    },
  }
}

/** Milliseconds: something that is due does not make looks follow each other faster. */
const soonestPoll = 500

/** Seconds after its creation for which a deployment may not show an instance. */
const youngFor = 60

type SeenPoll = Extract<CertainPoll, { outcome: 'seen' }>

function uncertainOf(reason: string, unconfirmed: readonly number[]): NonNullable<AccountView['uncertain']> {
  return { reason, instances: unconfirmed }
}

/** A key that may not read instances says nothing about them: what is known of them stays. */
const unknownInstances: Changes = { changed: new Map(), gone: [] }
