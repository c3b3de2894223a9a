import { agentCommands, instanceCommands } from '#contract/commands/instances.ts'
import { offerCommands, rentingCommands } from '#contract/commands/market.ts'
import { notingAsked } from '#core/accounts/keyed-client.ts'
import { createDispatcher } from '#core/bridge/dispatcher.ts'
import { agentHandlers } from '#core/commands/agents.ts'
import { instanceHandlers } from '#core/commands/instances.ts'
import { offerHandlers, rentingHandlers } from '#core/commands/market.ts'
import { gateNamedCallers } from '#core/commands/named-callers.ts'
import type { Services } from '#core/commands/services.ts'
import { createAccountClock } from '#core/instances/account-clock.ts'
import { askForOne } from '#core/instances/poll-account.ts'
import { compareInstances, type KnownRecords } from '#core/instances/reconcile.ts'
import { Ledger } from '#core/ledger/perform.ts'
import { createRecentSearches, createSeenOffers } from '#core/market/recent-searches.ts'
import { isUnderWay, rentedAs } from '#core/renting/rental.ts'
import { openRentals } from '#core/renting/rentals.ts'
import { openSettings } from '#core/settings.ts'
import { notedKeychain } from '#core/storage/noted-keychain.ts'
import { createStore } from '#core/storage/store.ts'
import { openUndoableActions } from '#core/undoable-actions.ts'
import type { FullClient } from '#service/client.ts'
import type { DialectMemory } from '#service/dialect.ts'
import type { Send } from '#service/http/operation.ts'
import { instances } from '#service/instances.ts'
import { offers } from '#service/offers.ts'
import type { Spender, SpenderForm } from '#shared/spending/spender.ts'
import type { AccountView } from '#shared/state.ts'
import { account, accountContext, freshAnswer, withEndings } from '#test/berth/account-context.ts'
import type { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles, testKeychain } from '#test/berth/machine.ts'
import { accountView, emptyState } from '#test/unit/views.ts'
import { neighbours } from '../../renting/some-rental.ts'

/** The computer that Berth runs on, which survives a kill. */
export interface Computer {
  clock: HandClock
  files: MemoryFiles
  keychain: Map<string, string>
  ids: { count: number }
  seen: { instances: AccountView['instances']; at?: number }
  /** Sends a request, and tells the service's time, epoch seconds. */
  send: Send
  told(): number
  /** Called before each write and after each answer; whether Berth is killed there. */
  kills(): boolean
}

export type Berth = Awaited<ReturnType<typeof startBerth>>

const declared = { ...instanceCommands, ...offerCommands, ...rentingCommands, ...agentCommands }
const never = new Promise<never>(() => undefined)

/** What of Berth rents, ends and holds caps, in one process, with the commands that agents reach. */
export async function startBerth({ clock, files, keychain: entries, ids, seen, ...outside }: Computer) {
  const dead = new AbortController()
  const { signal } = dead
  const killed = new Promise<'killed'>(resolve => signal.addEventListener('abort', () => resolve('killed')))
  /** Whether it lives on at this moment. */
  function lives(): boolean {
    if (!signal.aborted && outside.kills()) dead.abort()
    return !signal.aborted
  }
  const own = new MemoryFiles()
  own.read = name => files.read(name)
  // As slow as a disk, so that others ask meanwhile.
  own.write = async (name, text) => {
    if (!lives()) return never
    for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve))
    return signal.aborted ? never : files.write(name, text)
  }
  own.delete = async name => (lives() ? files.delete(name) : never)
  const time = createAccountClock(clock, 1, seen.at)
  const send: Send = async (operation, input) => {
    if (signal.aborted) return never
    const answer = await Promise.allSettled([outside.send(operation, input)])
    if (!lives()) return never
    if (answer[0].status === 'rejected') throw answer[0].reason
    time.askedAnew()
    time.learn({ serverTime: Math.floor(outside.told()), roundTrip: 20 })
    return answer[0].value
  }
  const dialect: DialectMemory = { get: () => ({ list: 'v0' }), set: () => undefined }
  const views = {
    [account]: accountView({ id: account, connection: { status: 'online' }, instances: seen.instances }),
  }
  const store = createStore({ ...emptyState(), accounts: views, shown: account })
  const onBroken = () => {
    throw new Error('a file is broken')
  }
  const settings = await openSettings(own, clock, onBroken)
  store.change(draft => {
    draft.settings = settings.get()
  })
  const client = notingAsked(
    { instances: instances(send, dialect), offers: offers(send, dialect) } as FullClient,
    {
      account,
      store,
      lastSeen: { record: async () => undefined } as unknown as Parameters<typeof notingAsked>[1]['lastSeen'],
      now: time.now,
      mayCost: (instance, bid) => ledger.mayCost(instance, bid),
      onEnd: () => undefined,
    },
  )
  const keychain = await notedKeychain(testKeychain(entries), {
    files: own,
    platform: { clock },
    onBroken,
  })
  const known: KnownRecords = new Map()
  const context = accountContext({
    ...{ clock, store, files: own, keychain, onBroken },
    client: () => client,
    quitting: signal,
    now: time.now,
    newId: () => (++ids.count).toString(16).padStart(16, '0'),
    poll: async () => void (await poll()),
  })
  const endings = await withEndings(context, () => client)
  const ledger: Ledger = await Ledger.open(context, mark => {
    const attempt = rentals.attempt(mark)
    return attempt && { instance: attempt.instance, isOpen: isUnderWay(attempt) }
  })
  const rentals = await openRentals(context, { ...neighbours, ledger }, { actedOn: () => undefined })
  const actions = await openUndoableActions(context)
  let polling: Promise<boolean> | undefined

  /** Resolves with whether the service answered. */
  function poll(): Promise<boolean> {
    polling ??= pollOnce().finally(() => {
      polling = undefined
    })
    return polling
  }

  async function pollOnce(): Promise<boolean> {
    const begunAt = clock.monotonic()
    const list = await client.instances.list({ signal }).catch(() => undefined)
    if (!list || signal.aborted) return false
    const missing = endings.allPending().filter(id => !list.instances.some(record => record.id === id))
    const absent = new Set<number>()
    for (const id of missing) if ((await askForOne(client, id, signal)) === 'gone') absent.add(id)
    const at = time.now()
    const before = store.get().accounts[account]?.instances ?? {}
    const rented = (id: number) => {
      const attempt = rentals.ofInstance(id)
      return attempt && rentedAs(attempt)
    }
    const listing = { instances: [...list.instances], unconfirmed: [] }
    const { changed, gone } = compareInstances(known, before, listing, at, undefined, undefined, rented)
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      target.instances = { ...before, ...Object.fromEntries(changed) }
      for (const id of gone) delete target.instances[id]
      target.clock = time.accountTime()
    })
    const shown = () => store.get().accounts[account]?.instances ?? {}
    Object.assign(seen, { instances: shown(), at })
    const answer = freshAnswer({ store }, shown(), list.instances, at)
    for (const automation of [ledger, rentals, actions])
      automation.onPoll({ ...answer, account: { ...answer.account, instances: shown() } })
    endings.onPoll({ account: { instances: shown() }, gone: absent, begunAt, at })
    await endings.whenRead()
    return !signal.aborted
  }

  const session = {
    id: account,
    client,
    endings,
    rentals,
    actions,
    automations: { ledger },
    poll: context.poll,
    now: time.now,
    record: () => undefined,
  }
  const refusals: string[] = []
  const parts = {
    store,
    settings,
    platform: { clock },
    accounts: { session: () => session },
    activity: {
      add: ({ text }: { text: string }) => void (text.startsWith('Refused') && refusals.push(text)),
    },
    recentSearches: createRecentSearches(clock),
    seenOffers: createSeenOffers(),
  } as unknown as Services
  const handlers = {
    ...instanceHandlers(parts),
    ...offerHandlers(parts),
    ...rentingHandlers(parts),
    ...agentHandlers(parts),
  }
  const inner = createDispatcher(declared, handlers, line => refusals.push(line))
  const gate = gateNamedCallers(parts, inner)
  for (const part of [rentals, actions]) part.resume()

  return {
    ledger,
    refusals,
    /** As the settings do. */
    async permit(spenders: SpenderForm[]): Promise<void> {
      await settings.change({ spenders })
      store.change(draft => {
        draft.settings = settings.get()
      })
    },
    view: () => store.get().accounts[account],
    poll: () => Promise.race([poll(), killed.then(() => false)]),
    /** A command; `killed` once Berth was killed before its answer. */
    dispatch: (name: string, args: unknown, by?: Spender) =>
      Promise.race([gate(name, args, by === undefined ? {} : { by }), killed]),
    get isDead() {
      return signal.aborted
    },
    kill: () => dead.abort(),
  }
}
