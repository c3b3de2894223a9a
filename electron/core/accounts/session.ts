import type { AccountId } from '../../contract/ids.ts'
import { BerthError } from '../../contract/problem.ts'
import { micros } from '../../contract/spending/money.ts'
import type { AccountView } from '../../contract/state.ts'
import type { Files } from '../../ports/files.ts'
import type { Keychain } from '../../ports/keychain.ts'
import type { Machine } from '../../ports/machine.ts'
import { parseBaseUrl } from '../../service/base-url.ts'
import { createClient, type ServiceClient } from '../../service/client.ts'
import type { Instance } from '../../service/instances.ts'
import type { Access } from '../access/access.ts'
import type { Activity } from '../activity/activity.ts'
import { openAccountAlerts } from '../alerts/account-alerts.ts'
import type { Teller } from '../alerts/teller.ts'
import { type Automations, openAutomations } from '../automation/automations.ts'
import type { FileTransfers } from '../files/file-transfers.ts'
import { type Changes, compareInstances, type KnownRecords } from '../instances/reconcile.ts'
import { notedKeychain } from '../rentals/noted-keychain.ts'
import { openRentals } from '../rentals/open-rentals.ts'
import type { Rentals } from '../rentals/rentals.ts'
import { secretsEntry } from '../rentals/secrets.ts'
import type { Store } from '../store.ts'
import { openTransfers } from '../transfers/open-transfers.ts'
import type { Transfers } from '../transfers/transfers.ts'
import { keyMissing } from './key-missing.ts'
import { lastSeenOf, openLastSeen } from './last-seen.ts'
import { createAccountClock } from './look/account-clock.ts'
import { type Look, lookAt, userFields } from './look/look.ts'
import { BadlyAnswered, createPoller, KeyRefused } from './look/poller.ts'
import { showLook } from './look/show-look.ts'
import { createStanding } from './look/standing.ts'
import { isPaused } from './pause.ts'

/** One account while Berth runs: its client, its clock, its polling and its rentals. */
export interface Session {
  readonly id: AccountId
  /** Throws `key_missing` while there is no key. */
  readonly client: ServiceClient
  readonly rentals: Rentals
  readonly transfers: Transfers
  readonly automations: Automations
  /** The record of an instance as it came last, secrets and all. */
  record(instance: number): Instance | undefined
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

export interface SessionSurroundings {
  store: Store
  machine: Machine
  /** Where secret values of what it rents are, until it is there. */
  keychain: Keychain
  /** Where this account's things are kept. */
  files: Files
  activity: Activity
  teller: Teller
  access: Access
  fileTransfers: FileTransfers
  /** The rate of the account's time, where it is known beforehand: the demo's. */
  rate?: number
  /** Milliseconds between looks. */
  pollInterval: () => number
  /** The service refused a key: gives another one to go on with, where there is one. */
  anotherKey: (refused: string) => Promise<string | undefined>
  /** An instance has gone from the account. */
  onGone: (instance: number) => void
  onCreated: (client: ServiceClient, instance: number, instanceKey: string | undefined) => void
}

/** The account must be in State already. Without a key it waits for `useKey`. */
export async function openSession(
  { id, baseUrl }: Pick<AccountView, 'id' | 'baseUrl'>,
  key: string | undefined,
  around: SessionSurroundings,
): Promise<Session> {
  const { store, machine, files, activity, teller } = around
  const { clock } = machine
  const folder = `accounts/${id}`
  const onBroken = (setAside: string) =>
    activity.add({
      account: id,
      kind: 'error',
      text: `A file of this account could not be read and was set aside as ${setAside}`,
    })
  const kept = { files, clock, onBroken }
  const [alerts, lastSeen] = await Promise.all([
    openAccountAlerts({ ...kept, name: `${folder}/told.json` }, teller),
    openLastSeen(files, clock, `${folder}/last-seen.json`, onBroken),
  ])

  const time = createAccountClock(clock, around.rate)
  const records: KnownRecords = new Map()
  const ending = new AbortController()
  let inUse = key
  let client = key === undefined ? undefined : clientFor(key)
  let looking: AbortController | undefined
  const standing = createStanding({ account: id, store, activity, teller, seenAt: lastSeen.get().at })

  const account = () => store.get().accounts[id]

  function clientFor(withKey: string): ServiceClient {
    return createClient({
      baseUrl: parseBaseUrl(baseUrl),
      key: withKey,
      random: machine.random.fraction,
      onAnswer: sample => time.learn(sample),
    })
  }

  function withKey(): ServiceClient {
    if (!client) throw new BerthError(keyMissing(machine.keychain))
    return client
  }

  const place = { files, clock, name: `${folder}/secrets.json`, onBroken }
  const keychain = await notedKeychain(around.keychain, place)

  /** What rentals, transfers and automations stand on alike. */
  const ground = {
    account: id,
    store,
    machine,
    clock,
    keychain,
    files,
    folder,
    onBroken,
    activity,
    teller,
    access: around.access,
    fileTransfers: around.fileTransfers,
    client: withKey,
    record: (instance: number) => records.get(instance),
    ending: ending.signal,
    now: time.now,
    newId: () => machine.random.hex(16),
    look: () => poller.look(),
  }
  const rentals = await openRentals({
    ...ground,
    created: (instance, instanceKey) => around.onCreated(withKey(), instance, instanceKey),
  })
  const transfers = await openTransfers(ground)
  const automations = await openAutomations({ ...ground, rentals })
  await keepSecretsOf([...rentals.secretOwners(), ...automations.secretOwners()])

  /** Killed between keeping a secret and the wish that it was for, or its end, nobody would ever delete it. */
  function keepSecretsOf(owners: readonly string[]): Promise<void> {
    return keychain.keepOnly(new Set(owners.map(secretsEntry)))
  }

  async function poll(): Promise<void> {
    const asked = withKey()
    // One of its own for each look: signals that live long gather listeners.
    looking = new AbortController()
    const look = await lookAt(asked, looking.signal)
    // What a key that was replaced meanwhile got to hear says nothing.
    if (ending.signal.aborted || asked !== client) return
    if (look.outcome === 'seen') await seen(look)
    else await failed(look)
  }

  async function seen({ user, instances, limitation }: Extract<Look, { outcome: 'seen' }>): Promise<void> {
    const before = account()
    if (!before) return
    const at = time.now()
    const changes = instances ? compareInstances(records, before.instances, instances, at) : unknownInstances
    const fields = user ? userFields(user) : {}
    const clockNow = time.told()
    store.change(draft => showLook(draft, before, { changes, fields, clock: clockNow, limitation }))
    standing.seen(before.connection, at)
    for (const gone of changes.gone) around.onGone(gone)
    const after = account()
    if (!after) return
    if (instances) {
      rentals.looked(after.instances, instances)
      transfers.looked(after.instances)
      automations.looked({
        account: after,
        records: instances,
        at,
        blur: time.blur(),
        ...(user ? { credit: micros(user.credit) } : {}),
      })
    }
    if (after !== before) lastSeen.writeSoon(() => lastSeenOf(after, at))
    await alerts.looked(after, store.get().settings)
  }

  async function failed(look: Exclude<Look, { outcome: 'seen' }>): Promise<void> {
    const { problem } = look
    if (look.outcome === 'refused') {
      if (standing.doubted()) throw new KeyRefused(problem.code)
      const other = await around.anotherKey(inUse ?? '')
      if (ending.signal.aborted) return
      if (other !== undefined) return goOnWith(other)
      standing.refused(problem)
      throw new KeyRefused(problem.code)
    }
    standing.offline(problem, look.status)
    // One that says that it is asked too often is not asked the sooner for it.
    const soonWell = look.status !== undefined && problem.code !== 'rate_limited'
    throw soonWell ? new BadlyAnswered(problem.code) : new Error(problem.code)
  }

  function goOnWith(newKey: string): void {
    inUse = newKey
    client = clientFor(newKey)
    standing.connecting()
    begin()
  }

  const poller = createPoller({
    clock,
    poll,
    interval: untilNextLook,
    // What is being rented costs: it is watched to its end all the same.
    held: () => isPaused(store, clock) && !rentals.underWay() && !automations.failovers.underWay(),
    random: machine.random.fraction,
  })

  /** Milliseconds: the interval, or less where something is due before. */
  function untilNextLook(): number {
    const interval = around.pollInterval()
    const due = automations.dueAt()
    if (due === undefined) return interval
    const until = ((due - time.now()) * 1000) / time.told().rate
    return until <= 0 ? interval : Math.min(interval, Math.max(soonestLook, until))
  }

  function begin(): void {
    rentals.show()
    rentals.resume()
    transfers.show()
    transfers.resume()
    automations.resume()
    poller.resume()
    void poller.look()
  }

  const { at: _, ...remembered } = lastSeen.get()
  store.change(draft => {
    const target = draft.accounts[id]
    if (target) Object.assign(target, remembered)
  })
  if (key === undefined) {
    poller.pause()
    standing.locked(keyMissing(machine.keychain))
  } else {
    standing.connecting()
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
    record: ground.record,
    look: async () => {
      if (client) await poller.look()
    },
    useKey: goOnWith,
    forgetSecrets: () => keepSecretsOf([]),
    now: time.now,
    async close() {
      ending.abort()
      looking?.abort()
      poller.stop()
      await Promise.all([
        rentals.flush(),
        transfers.flush(),
        automations.flush(),
        alerts.flush(),
        lastSeen.flush(),
      ])
    },
  }
}

/** Milliseconds: something that is due does not make looks follow each other faster. */
const soonestLook = 500

/** A key that may not read instances says nothing about them: what is known of them stays. */
const unknownInstances: Changes = { changed: new Map(), gone: [] }
