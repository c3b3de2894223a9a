import type { Endings } from '#core/endings/perform.ts'
import { type AccountClock, sameTime } from '#core/instances/account-clock.ts'
import { lastSeenOf } from '#core/instances/last-seen.ts'
import { MissingPolls } from '#core/instances/missing-instances.ts'
import { accountFields, askForOne, pollAccount } from '#core/instances/poll-account.ts'
import {
  applyChanges,
  type Changes,
  compareInstances,
  followsOn,
  type KnownRecords,
} from '#core/instances/reconcile.ts'
import { KeyRefused, pollFailure } from '#core/instances/repeated-polls.ts'
import { countedOn } from '#core/instances/spending.ts'
import {
  type CertainPoll,
  type Expected,
  type InstanceListing,
  pollAll,
} from '#core/instances/verified-poll.ts'
import { unexplained } from '#core/money/accrual.ts'
import { rentedAs } from '#core/renting/rental.ts'
import { capabilitiesOf } from '#service/dialect.ts'
import { proxyOf } from '#service/http/proxy.ts'
import type { ListOptions } from '#service/instances.ts'
import { spendOf } from '#shared/derived.ts'
import type { AccountId } from '#shared/ids.ts'
import type { AccountTime, AccountView, State } from '#shared/state.ts'
import { isDeepEqual } from '../storage/store.ts'
import type { Automations } from './automations.ts'
import type { ConnectionStatus } from './connection-status.ts'
import type { KeyedClient } from './keyed-client.ts'
import type { SessionContext, SessionMemory } from './session-context.ts'

/** The polled session. */
interface PolledSession {
  id: AccountId
  app: SessionContext
  client: KeyedClient
  time: AccountClock
  memory: SessionMemory
  records: KnownRecords
  connectionStatus: ConnectionStatus
  automations: Automations
  endings: Endings
  quitting: AbortSignal
  /** Continues with another key. */
  useKey(key: string): void
}

type SeenPoll = Extract<CertainPoll, { outcome: 'seen' }>

/** Micro-dollars that a credit shows. */
const noticedPrice = 20_000

/** Polls one account and passes the results to State and to the account's parts. */
export class AccountPolls {
  readonly #session: PolledSession
  readonly #missing = new MissingPolls()
  #polling: AbortController | undefined
  /** When a certain list and the credit were last received, epoch seconds of the account's time. */
  #seenAt: number | undefined
  #creditReadAt: number | undefined
  /** Up to when costs are counted, epoch seconds of the account's time, and when that was, monotonic milliseconds. */
  #counted: { at: number; since: number } | undefined
  /** Why the last whole list was uncertain. */
  #doubt: string | undefined

  constructor(session: PolledSession) {
    const { at, creditAt } = session.memory.lastSeen.get()
    this.#session = session
    this.#seenAt = at
    this.#creditReadAt = creditAt ?? at
    if (at !== undefined) this.#counted = { at, since: Number.POSITIVE_INFINITY }
  }

  /** One poll; rejects as a poller's `poll` does. */
  async poll(): Promise<void> {
    const { app, client, quitting, time } = this.#session
    const begunAt = app.platform.clock.monotonic()
    const polledClient = client.get()
    // One per poll, since a long-lived signal would collect listeners.
    this.#polling = new AbortController()
    const { signal } = this.#polling
    const questions = {
      poll: (options: ListOptions) => pollAccount(polledClient, signal, options, this.#account()?.userId),
      one: (instance: number) => askForOne(polledClient, instance, signal),
    }
    // An answer to a key that was replaced meanwhile is ignored.
    const isIgnored = () => quitting.aborted || polledClient !== client.current
    const ask = () =>
      pollAll(
        questions,
        () => this.#expected(),
        part => {
          if (!isIgnored()) this.#showPart(part)
        },
      )
    time.askedAnew()
    const first = await ask()
    // A time or a credit that leaps is told twice before anything is counted by it.
    const isCounted = !isIgnored() && first.outcome === 'seen'
    const leap = isCounted ? time.doubtedBy() : undefined
    const isPaid = leap !== undefined && this.#isPaid(leap, first)
    if (isPaid) time.isPaid()
    const asksAnew = isPaid || (leap === undefined && isCounted && this.#creditLeaps(first))
    if (asksAnew) time.askedAnew()
    const poll = asksAnew ? await ask() : first
    if (isIgnored()) return
    if (poll.outcome !== 'seen') return this.#failed(poll)
    await this.#seen(poll, begunAt)
    if (poll.failed) throw pollFailure(poll.failed)
  }

  /** Aborts the running poll. */
  abort(): void {
    this.#polling?.abort()
  }

  #account(): AccountView | undefined {
    return this.#session.app.store.get().accounts[this.#session.id]
  }

  /** Whether the credit fell by half of what the instances that run on cost in so many seconds, where that can be told. */
  #isPaid(seconds: number, poll: CertainPoll): boolean {
    const account = this.#account()
    if (!account || poll.outcome !== 'seen' || !poll.user || !poll.listing) return true
    const { credit } = accountFields(poll.user)
    if (account.credit === undefined || credit === undefined) return true
    // One that doesn't run any more may have ended at once.
    const perHour = poll.listing.instances.reduce((sum, record) => {
      const before = account.instances[record.id]
      const runsOn = before?.state === 'running' && record.actual_status === 'running'
      return runsOn ? sum + before.costPerHour : sum
    }, 0)
    const price = (perHour * seconds) / 3600
    return price < noticedPrice || account.credit - credit >= price / 2
  }

  /** Whether the credit differs from the last one by more than the prices explain. */
  #creditLeaps(poll: CertainPoll): boolean {
    const account = this.#account()
    const credit = poll.outcome === 'seen' && poll.user ? accountFields(poll.user).credit : undefined
    if (account?.credit === undefined || credit === undefined) return false
    const now = this.#session.time.now()
    const seconds = Math.max(0, now - (this.#creditReadAt ?? now))
    const fall = (account.spendPerHour * seconds) / 3600
    return Math.abs(account.credit - fall - credit) > unexplained + fall
  }

  #expected(): readonly Expected[] {
    const { automations, endings, time } = this.#session
    const account = this.#account()
    if (!account) return []
    return expectedInstances(account, endings.allPending(), automations.rentals.awaited(), time.now())
  }

  /** Before the first whole list, shows the instances of its first pages; nothing acts on them yet. */
  #showPart(listing: InstanceListing): void {
    const { app, time } = this.#session
    const before = this.#account()
    if (before?.connection.status !== 'connecting') return
    const found = this.#found(before, { outcome: 'seen', listing }, time.now())
    app.store.change(draft => showPoll(draft, before, found))
  }

  async #seen(poll: SeenPoll, begunAt: number): Promise<void> {
    const { app, memory, time, connectionStatus, automations, endings } = this.#session
    const { listing } = poll
    const at = time.now()
    this.#countOn(at)
    const before = this.#account()
    if (!before) return
    const found = this.#found(before, poll, at)
    app.store.change(draft => {
      showPoll(draft, before, found)
      const target = draft.accounts[before.id]
      if (target && before.connection.status !== 'online') target.connection = { status: 'online' }
    })
    connectionStatus.seen(before.connection, at, poll.user !== undefined)
    connectionStatus.certain(this.#doubt, found.uncertain?.reason)
    this.#doubt = found.uncertain?.reason
    const unconfirmed = new Set(listing?.unconfirmed)
    const there = new Set([...(listing?.instances.map(({ id }) => id) ?? []), ...unconfirmed])
    const pollsMissing = listing ? this.#missing.next(instance => there.has(instance)) : () => 0
    const { gone } = found.changes
    if (listing)
      memory.missingInstances.onPoll({
        shown: before.instances,
        gone,
        there: listing.instances,
        unconfirmed,
        pollsMissing,
        isDestroyed: instance => endings.isDestroyed(instance),
        at,
      })
    const account = this.#account()
    if (!account) return
    if (listing) {
      const { credit } = found.fields
      const records = listing.instances
      automations.onPoll({
        account,
        records,
        unconfirmed,
        pollsMissing,
        at,
        credit,
      })
      endings.onPoll({ account: this.#account() ?? account, gone: new Set(listing.gone), begunAt, at })
    }
    const heardAt = app.platform.clock.now()
    if (account !== before)
      memory.lastSeen.writeSoon(() => lastSeenOf(this.#account() ?? account, at, heardAt))
    const isOwn = (mark: string) => automations.rentals.attempt(mark) !== undefined
    await memory.alerts.onPoll(account, app.store.get().settings, at, isOwn)
  }

  /** Keeps what instances have cost where the account's time was set back. A faster one is only known roughly. */
  #countOn(at: number): void {
    const { app, id, time } = this.#session
    const { at: before, since } = this.#counted ?? { at, since: Number.POSITIVE_INFINITY }
    const now = app.platform.clock.monotonic()
    this.#counted = { at, since: now }
    const clock = time.accountTime()
    const isKnown = since === Number.POSITIVE_INFINITY || clock.rate === 1
    const expected = before + Math.max(0, now - since) / 1000
    const corrected = isKnown ? countedOn(this.#account()?.instances ?? {}, expected, at) : []
    if (corrected.length === 0) return
    app.store.change(draft => {
      const target = draft.accounts[id]
      if (!target) return
      target.clock = clock
      for (const { id: instance, spent } of corrected)
        Object.assign(target.instances[instance] ?? {}, { spent })
    })
  }

  /** The results of a poll, compared with the account in State before it. */
  #found(before: AccountView, { user, listing, limitation }: SeenPoll, at: number): PollFound {
    const { app, memory, time, records, automations } = this.#session
    const { missingInstances, dialect } = memory
    const fields: PollFound['fields'] = user ? accountFields(user) : {}
    if (fields.credit !== undefined) this.#creditReadAt = at
    const interval = (app.pollInterval() * time.accountTime().rate) / 1000
    const lastPoll = { at: this.#seenAt, unbroken: followsOn(this.#seenAt, at, interval) }
    if (listing && listing.doubt === undefined) this.#seenAt = at
    const rented = (instance: number) => {
      const tried = automations.rentals.ofInstance(instance)
      return tried && rentedAs(tried)
    }
    const { lastView } = missingInstances
    return {
      changes: listing
        ? compareInstances(
            records,
            before.instances,
            listing,
            at,
            lastView,
            lastPoll,
            rented,
            capabilitiesOf(dialect.get()),
          )
        : unknownInstances,
      fields,
      clock: time.accountTime(),
      limitation,
      uncertain:
        listing?.doubt === undefined ? undefined : { reason: listing.doubt, instances: listing.unconfirmed },
      creditReadAt: this.#creditReadAt ?? at,
    }
  }

  async #failed(poll: Exclude<CertainPoll, SeenPoll>): Promise<void> {
    const { app, client, connectionStatus, quitting, useKey } = this.#session
    const { problem } = poll
    if (poll.outcome !== 'refused') {
      connectionStatus.offline(problem, poll.status)
      throw pollFailure(poll)
    }
    if (connectionStatus.doubted()) throw new KeyRefused(problem.code)
    const other = await app.anotherKey(client.key ?? '')
    if (quitting.aborted) return
    if (other !== undefined) return useKey(other)
    connectionStatus.refused(problem)
    throw new KeyRefused(problem.code)
  }
}

/** With a key that may not read instances, the known ones stay. */
const unknownInstances: Changes = { changed: new Map(), gone: [] }

/** The results of a poll, compared with State. */
interface PollFound {
  changes: Changes
  /** Empty where the poll lacks the user. */
  fields: Partial<ReturnType<typeof accountFields>>
  clock: AccountTime
  limitation: string | undefined
  /** Undefined where the list of instances is certain. */
  uncertain: AccountView['uncertain']
  /** When the credit was last received, epoch seconds of the account's time. */
  creditReadAt: number
}

/** Writes the changes of a poll into the draft; `before` is the account in State. */
function showPoll(
  draft: State,
  before: AccountView,
  { changes, fields, clock, limitation, uncertain, creditReadAt }: PollFound,
): void {
  const target = draft.accounts[before.id]
  if (!target) return
  applyChanges(target.instances, before.instances, changes)
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && !isDeepEqual(before[name as keyof typeof fields], value))
      Object.assign(target, { [name]: value })
  const creditUntold = fields.userId !== undefined && fields.credit === undefined
  if (creditUntold) target.creditUntold = true
  else if (before.creditUntold) delete target.creditUntold
  const proxy = proxyOf(before.baseUrl)
  if (proxy !== undefined) target.proxy = proxy
  else if (before.proxy !== undefined) delete target.proxy
  if (fields.credit !== undefined) delete target.creditAt
  else if (before.credit !== undefined && before.creditAt === undefined) target.creditAt = creditReadAt
  if (!sameTime(before.clock, clock)) target.clock = clock
  if (limitation !== before.limitation) {
    if (limitation) target.limitation = limitation
    else delete target.limitation
  }
  if (!isDeepEqual(before.uncertain, uncertain)) {
    if (uncertain) target.uncertain = uncertain
    else delete target.uncertain
  }
  if (changes.changed.size === 0 && changes.gone.length === 0) return
  const shown = { ...before.instances, ...Object.fromEntries(changes.changed) }
  for (const gone of changes.gone) delete shown[gone]
  const spend = spendOf({ instances: shown, volumes: before.volumes })
  if (spend !== before.spendPerHour) target.spendPerHour = spend
}

/** Seconds after its creation in which a deployment may not list an instance. */
const youngFor = 60

/**
 * The instances that an answer should list: those that are shown, and those that were rented. One that is being ended
 * is asked for as one with a limit is. `now` in epoch seconds of the account's time.
 */
function expectedInstances(
  { limits, instances }: Pick<AccountView, 'limits' | 'instances'>,
  ending: readonly number[],
  rented: readonly { instance: number; createdAt: number }[],
  now: number,
): Expected[] {
  const limited = new Set([...Object.values(limits).map(({ instance }) => instance), ...ending])
  const known = new Set([...Object.keys(instances).map(Number), ...ending])
  return [
    ...[...known].map(id => ({ id, isLimited: limited.has(id) })),
    ...rented
      .filter(({ instance }) => !known.has(instance))
      .map(({ instance, createdAt }) => ({ id: instance, isYoung: now - createdAt < youngFor })),
  ]
}

/** The shortest time before a poll because something is due, in milliseconds. */
const soonestPoll = 500

/**
 * Milliseconds until the next poll. Polls begin an interval apart, but the pause between them is at least half of it.
 * Earlier where something is due in `due` milliseconds.
 */
export function untilNextPoll(interval: number, took: number, due: number): number {
  const usual = Math.max(interval - took, interval / 2)
  return due <= 0 ? usual : Math.min(usual, Math.max(soonestPoll, due))
}
