import * as v from 'valibot'
import type { CreditSample } from '../../contract/credit.ts'
import type { AccountId } from '../../contract/ids.ts'
import { micros } from '../../contract/money.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { AccountView, Connection } from '../../contract/state.ts'
import type { Files } from '../../ports/files.ts'
import type { Keychain } from '../../ports/keychain.ts'
import type { Machine } from '../../ports/machine.ts'
import { parseBaseUrl } from '../../service/base-url.ts'
import { createClient, type ServiceClient } from '../../service/client.ts'
import type { Instance } from '../../service/instances.ts'
import type { Activity } from '../activity/activity.ts'
import { alerts } from '../alerts/alerts.ts'
import type { Teller } from '../alerts/teller.ts'
import { Told } from '../alerts/told.ts'
import { openCreditHistory } from '../credit/credit-history.ts'
import { applyChanges, type Changes, compareInstances, type KnownRecords } from '../instances/reconcile.ts'
import { openDocument } from '../remember/document.ts'
import { Rental } from '../rentals/rental.ts'
import { createRentals, type Rentals } from '../rentals/rentals.ts'
import { same } from '../same.ts'
import type { Store } from '../store.ts'
import { openTransfers } from '../transfers/open-transfers.ts'
import type { Transfers } from '../transfers/transfers.ts'
import { createAccountClock, sameTime } from './account-clock.ts'
import { lastSeenOf, openLastSeen } from './last-seen.ts'
import { type Look, lookAt, userFields } from './look.ts'
import { createPoller } from './poller.ts'

/** One account while Berth runs: its client, its clock, its polling and its rentals. */
export interface Session {
  readonly id: AccountId
  /** Throws `key_missing` while there is no key. */
  readonly client: ServiceClient
  readonly rentals: Rentals
  readonly transfers: Transfers
  /** The record of an instance as it came last, secrets and all. */
  record(instance: number): Instance | undefined
  /** Looks at once; resolves when that look has ended, well or not. Without a key it does nothing. */
  look(): Promise<void>
  /** Another key for the same account. */
  useKey(key: string): void
  /** The account's time, in epoch seconds. */
  now(): number
  /** How its credit went, oldest first. */
  creditHistory(): readonly CreditSample[]
  /** Ends polling, and writes what waits to be written. */
  close(): Promise<void>
}

export interface SessionSurroundings {
  store: Store
  machine: Machine
  /** Where this account's things are kept. */
  files: Files
  activity: Activity
  teller: Teller
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
  const [rentalsDocument, toldDocument, lastSeen, credit] = await Promise.all([
    openDocument({
      files,
      clock,
      name: `${folder}/rentals.json`,
      schema: v.array(Rental),
      empty: [],
      onBroken,
    }),
    openDocument({
      files,
      clock,
      name: `${folder}/told.json`,
      schema: v.nullable(Told),
      empty: null,
      onBroken,
    }),
    openLastSeen(files, clock, `${folder}/last-seen.json`, onBroken),
    openCreditHistory({ files, clock, name: `${folder}/credit.json`, onBroken }),
  ])

  const time = createAccountClock(clock, around.rate)
  const records: KnownRecords = new Map()
  const ending = new AbortController()
  let inUse = key
  let client = key === undefined ? undefined : clientFor(key)
  let looking: AbortController | undefined
  let seenAt = lastSeen.get().at

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

  function setConnection(connection: Connection): void {
    if (same(account()?.connection, connection)) return
    store.change(draft => {
      const target = draft.accounts[id]
      if (target) target.connection = connection
    })
  }

  const rentals = createRentals({
    account: id,
    document: rentalsDocument,
    client: withKey,
    ending: ending.signal,
    clock,
    keychain: machine.keychain,
    now: time.now,
    knownInstances: () => Object.keys(account()?.instances ?? {}).map(Number),
    deadline: () => store.get().settings.rentalDeadline,
    newId: () => machine.random.hex(16),
    changed: showRentals,
    look: () => void poller.look(),
    created: (instance, instanceKey) => around.onCreated(withKey(), instance, instanceKey),
    tell: (text, { id: rental, instance, offer, request }, problem) =>
      activity.add({
        account: id,
        kind: problem ? 'error' : 'berth',
        text: `${text}: ${request.label ?? offer.gpuName ?? 'offer'} (${request.image || request.template?.name})`,
        detail: problem ? problem.message : `Rental ${rental}, offer ${offer.id}`,
        ...(instance === undefined ? {} : { instance }),
      }),
  })

  function showRentals(): void {
    const view = rentals.view()
    if (ending.signal.aborted || same(account()?.rentals, view)) return
    store.change(draft => {
      const target = draft.accounts[id]
      if (target) target.rentals = view
    })
  }

  const transfers = await openTransfers({
    account: id,
    store,
    activity,
    files,
    clock,
    onBroken,
    client: withKey,
    ending: ending.signal,
    now: time.now,
    newId: () => machine.random.hex(16),
    look: () => void poller.look(),
  })

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
    const back = before.connection.status === 'offline'
    const changes = instances ? compareInstances(records, before.instances, instances, at) : unknownInstances
    const fields = user ? userFields(user) : {}
    const clockNow = time.told()
    store.change(draft => {
      const target = draft.accounts[id]
      if (!target) return
      applyChanges(target.instances, before.instances, changes)
      for (const [name, value] of Object.entries(fields))
        if (!same(before[name as keyof typeof fields], value)) Object.assign(target, { [name]: value })
      if (before.connection.status !== 'online') target.connection = { status: 'online' }
      if (!sameTime(before.clock, clockNow)) target.clock = clockNow
      if (limitation !== before.limitation) {
        if (limitation) target.limitation = limitation
        else delete target.limitation
      }
      if (changes.changed.size > 0 || changes.gone.length > 0) {
        const shown = { ...before.instances, ...Object.fromEntries(changes.changed) }
        for (const gone of changes.gone) delete shown[gone]
        const spend = Object.values(shown).reduce((sum, instance) => sum + instance.costPerHour, 0)
        if (spend !== before.spendPerHour) target.spendPerHour = spend
      }
    })
    if (back) activity.add({ account: id, kind: 'berth', text: `${before.name} answers again` })
    for (const gone of changes.gone) around.onGone(gone)
    seenAt = at
    if (user) credit.add(at, micros(user.credit))
    // A look that the user asked for has shown that the key is good again.
    poller.resume()
    const after = account()
    if (!after) return
    if (instances) {
      rentals.looked(after.instances, instances)
      transfers.looked(after.instances)
    }
    if (after !== before) lastSeen.writeSoon(() => lastSeenOf(after, at))
    await tell(after)
  }

  /**
   * What is said is on disk before it is said: after a kill it is rather not said than said twice. Where it cannot be
   * written, it is said all the same.
   */
  async function tell(account: AccountView): Promise<void> {
    const before = toldDocument.get()
    const { alerts: found, told } = alerts(before ?? undefined, account, store.get().settings)
    if (!same(before, told)) await toldDocument.record(() => told)
    teller.takeBack(account, told)
    if (found.length > 0) teller.tell(id, found)
  }

  async function failed({ outcome, problem }: Exclude<Look, { outcome: 'seen' }>): Promise<void> {
    const other = outcome === 'refused' ? await around.anotherKey(inUse ?? '') : undefined
    if (ending.signal.aborted) return
    if (other !== undefined) return goOnWith(other)
    const before = account()?.connection.status
    const since = seenAt === undefined ? {} : { since: seenAt }
    setConnection({ status: outcome === 'refused' ? 'refused' : 'offline', ...since, problem })
    if (before === 'online' || before === 'connecting' || (outcome === 'refused' && before !== 'refused'))
      activity.add({
        account: id,
        kind: 'error',
        text: problem.message,
        ...(problem.advice ? { detail: problem.advice } : {}),
      })
    if (outcome === 'refused') poller.pause()
    throw new Error(problem.code)
  }

  function goOnWith(newKey: string): void {
    inUse = newKey
    client = clientFor(newKey)
    setConnection({ status: 'connecting', ...(seenAt === undefined ? {} : { since: seenAt }) })
    begin()
  }

  const poller = createPoller({ clock, poll, interval: around.pollInterval, random: machine.random.fraction })

  function begin(): void {
    showRentals()
    rentals.resume()
    transfers.show()
    transfers.resume()
    poller.resume()
    void poller.look()
  }

  const { at: _, ...remembered } = lastSeen.get()
  store.change(draft => {
    const target = draft.accounts[id]
    if (target)
      Object.assign(target, remembered, {
        connection: seenAt === undefined ? { status: 'connecting' } : { status: 'connecting', since: seenAt },
      })
  })
  if (key === undefined) {
    poller.pause()
    setConnection({ status: 'locked', problem: keyMissing(machine.keychain) })
  } else begin()

  return {
    id,
    get client() {
      return withKey()
    },
    rentals,
    transfers,
    record: instance => records.get(instance),
    look: async () => {
      if (client) await poller.look()
    },
    useKey: goOnWith,
    now: time.now,
    creditHistory: credit.samples,
    async close() {
      ending.abort()
      looking?.abort()
      poller.stop()
      await Promise.all([
        rentalsDocument.flush(),
        transfers.flush(),
        toldDocument.flush(),
        lastSeen.flush(),
        credit.flush(),
      ])
    },
  }
}

/** A key that may not read instances says nothing about them: what is known of them stays. */
const unknownInstances: Changes = { changed: new Map(), gone: [] }

/** Why there is no key to begin with. */
function keyMissing({ persistent, problem }: Pick<Keychain, 'persistent' | 'problem'>): Problem {
  if (!persistent || problem !== undefined)
    return {
      code: 'key_missing',
      message: 'This machine has no keychain, so the API key was only kept until Berth ended.',
      advice: 'Enter the key once more.',
    }
  return {
    code: 'key_missing',
    message: 'The API key of this account is not in the keychain.',
    advice: 'Unlock the keychain and start Berth again, or enter the key once more.',
  }
}
