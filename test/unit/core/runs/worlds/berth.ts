import type { AccountContext } from '#core/account-context.ts'
import type { Transfers } from '#core/copies/perform.ts'
import { Departures } from '#core/departures/perform.ts'
import { createAccountClock } from '#core/instances/account-clock.ts'
import { askForOne } from '#core/instances/poll-account.ts'
import { compareInstances, type KnownRecords } from '#core/instances/reconcile.ts'
import { openStoredLimits } from '#core/limits/model.ts'
import { openLimits } from '#core/limits/service.ts'
import { findOffers } from '#core/market/find-offers.ts'
import type { Projects } from '#core/projects/projects.ts'
import type { ProjectSecrets } from '#core/projects/secrets.ts'
import { createProjectRuns, createRunProjects } from '#core/projects/service.ts'
import { isRetrying, rentedAs } from '#core/renting/rental.ts'
import { openRentals } from '#core/renting/rentals.ts'
import { isMovable } from '#core/runs/model.ts'
import { notedKeychain } from '#core/storage/noted-keychain.ts'
import { createStore } from '#core/storage/store.ts'
import { openRunsAndSweeps } from '#core/sweeps/perform.ts'
import type { Watchdogs } from '#core/watchdogs/perform.ts'
import type { ServiceClient } from '#service/client.ts'
import type { DialectMemory } from '#service/dialect.ts'
import type { Send } from '#service/http/operation.ts'
import { type Instance, instances } from '#service/instances.ts'
import { offers } from '#service/offers.ts'
import { overlays } from '#service/overlays.ts'
import { describedCapabilities } from '#shared/account/capabilities.ts'
import type { Limit } from '#shared/automation/limit.ts'
import type { AccountView } from '#shared/state.ts'
import { account, accountContext, freshAnswer, withEndings } from '#test/berth/account-context.ts'
import type { HandClock } from '#test/berth/clocks.ts'
import { type MemoryFiles, testKeychain } from '#test/berth/machine.ts'
import { accountView, emptyState } from '#test/unit/views.ts'
import { neighbours } from '../../renting/some-rental.ts'
import type { LyingService } from './service.ts'

/** GB of the disk of a machine that is rented by hand. */
const disk = 20

/** The computer that Berth runs on, which survives a kill. */
export interface Computer {
  clock: HandClock
  files: MemoryFiles
  keychain: Map<string, string>
  service: LyingService
  ids: { count: number }
  /** What was seen last, and when, epoch seconds of the account's time. */
  seen: { instances: AccountView['instances']; at?: number }
}

export type Berth = Awaited<ReturnType<typeof startBerth>>

/** The automations of one account that spend and that limit, in one process, on a service that is called directly. */
export async function startBerth({ clock, files, keychain: entries, service, ids, seen }: Computer) {
  const dead = new AbortController()
  const time = createAccountClock(clock, 1, seen.at)
  const send: Send = async (operation, input) => {
    const answer = await service.answer(operation, input)
    time.askedAnew()
    if (!dead.signal.aborted) time.learn({ serverTime: Math.floor(service.told()), roundTrip: 20 })
    return answer
  }
  const dialect: DialectMemory = { get: () => ({ list: 'v0' }), set: () => undefined }
  const client = {
    instances: instances(send, dialect),
    offers: offers(send, dialect),
    overlays: overlays(send),
    volumes: { list: async () => [] },
  } as unknown as ServiceClient
  const views = {
    [account]: accountView({
      id: account,
      connection: { status: 'online' },
      instances: seen.instances,
      // Watchdogs are no part of these worlds, whose turns wait for nothing that is loaded.
      capabilities: { ...describedCapabilities, longestStartScript: 100 },
    }),
  }
  const store = createStore({ ...emptyState(), accounts: views })
  const onBroken = () => {
    throw new Error('a file is broken')
  }
  const keychain = await notedKeychain(testKeychain(entries), { files, platform: { clock }, onBroken })
  const known: KnownRecords = new Map()
  let records: readonly Instance[] = []
  let polling: Promise<boolean> | undefined
  const context: AccountContext = accountContext({
    clock,
    store,
    files,
    keychain,
    client: () => client,
    quitting: dead.signal,
    now: time.now,
    newId: () => (++ids.count).toString(16).padStart(16, '0'),
    poll: async () => void (await poll()),
    record: id => records.find(record => record.id === id),
    access: {
      probe: async () => undefined,
      connect: async ({ instance }: { instance: { id: number } }) => ({
        connection: {
          programEnd: service.programEnd.bind(service),
          addresses: () => service.addressesOf(instance.id),
          takenOver: () => service.takenOver(),
        },
        release: () => undefined,
      }),
    } as unknown as AccountContext['access'],
    sync: {
      scan: async () => ({ files: 0, bytes: 0, secrets: [], skipped: [], results: 0, linkedRules: [] }),
      up: async () => ({ files: 0, present: [], folders: [] }),
      down: async () => ({ files: 0, filesInAll: 0, beside: [], missing: [], skipped: [], unsettled: [] }),
      removeEarlier: async () => undefined,
      hasAll: async () => true,
    } as unknown as AccountContext['sync'],
  })
  const endings = await withEndings(context, () => client)
  const watchdogs = {
    settle: async () => undefined,
    apply: async () => undefined,
  } as unknown as Watchdogs
  const storedLimits = await openStoredLimits(context)
  const rentals = await openRentals(
    context,
    { ...neighbours, limit: (...args) => limits.limitRental(...args) },
    storedLimits,
  )
  const projects = {
    folder: () => ({ path: '/project' }),
    name: () => 'project',
    borrowed: () => [],
    allow: async () => undefined,
    isAllowed: () => false,
  } as unknown as Projects
  const secrets = { missing: () => [], get: async () => undefined } as unknown as ProjectSecrets
  const transfers = { needsWideKey: () => false } as Transfers
  const departures = await Departures.open(context, { copyToEnd: () => service.copy() })
  const { runs, sweeps } = await openRunsAndSweeps(context, {
    departures,
    watchdogs,
    rentals,
    limits: storedLimits,
    mayRentMore: () => true,
    mayHaveCost: () => true,
    projects: {
      ...createRunProjects(context, { projects, secrets, rentals, transfers }),
      commitOf: async () => undefined,
      copyFromClouds: async () => undefined,
      copyToCloud: async () => undefined,
    },
  })
  const limits = await openLimits(context, {
    limits: storedLimits,
    spending: {
      spentToday: () => 0,
      spentThisMonth: () => 0,
      observedPerHour: () => 0,
      countedAt: () => undefined,
    },
    wasAttempted(instance) {
      const rental = rentals.ofInstance(instance)?.rental
      return rental !== undefined && isRetrying(rental) && rental.step === 'trying'
    },
    before: target => runs.beforeLimit(target),
    watchdogs,
  })
  const all = [limits, rentals, departures, runs, sweeps]

  /** Resolves with whether the service answered. */
  function poll(): Promise<boolean> {
    polling ??= pollOnce().finally(() => {
      polling = undefined
    })
    return polling
  }

  async function pollOnce(): Promise<boolean> {
    const begunAt = clock.monotonic()
    const list = await client.instances.list({ signal: dead.signal }).catch(() => undefined)
    if (!list || dead.signal.aborted) return false
    records = list.instances
    const missing = endings.allPending().filter(id => !records.some(record => record.id === id))
    const absent = new Set<number>()
    for (const id of missing) if ((await askForOne(client, id, dead.signal)) === 'gone') absent.add(id)
    const at = time.now()
    const before = store.get().accounts[account]?.instances ?? {}
    const rented = (id: number) => {
      const attemptCost = rentals.ofInstance(id)
      return attemptCost && rentedAs(attemptCost)
    }
    const listing = { instances: onceEach(list.instances), unconfirmed: [] }
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
    for (const automation of all)
      automation.onPoll({ ...answer, account: { ...answer.account, instances: shown() } })
    endings.onPoll({ account: { instances: shown() }, gone: absent, begunAt, at })
    return true
  }

  for (const automation of all) if ('resume' in automation) automation.resume?.()
  return {
    projectRuns: createProjectRuns(context, { projects, secrets, rentals, runs, sweeps, transfers }),
    /** Polls, and lets all that follows at once happen; resolves with whether the service answered. */
    async poll(): Promise<boolean> {
      const isSeen = await clock.runUntil(poll())
      await clock.pass(0)
      return isSeen
    },
    /** Whether no run goes on, and none has a machine. */
    isOver: (): boolean =>
      runs.all().every(({ step }) => step === 'done' || step === 'failed' || step === 'cancelled'),
    /**
     * Problems of runs that failed, and how many commands have begun, those of several machines apart, were tried again, paid
     * for machines that they left, and began at a time.
     */
    ends: () => {
      const all = runs.all()
      const began = all.filter(({ startedAt }) => startedAt !== undefined)
      return {
        problems: all.flatMap(({ problem }) => problem?.code ?? []),
        began: began.filter(({ node }) => !node).length,
        beganTogether: began.filter(({ node }) => node).length,
        retried: all.filter(({ retried }) => (retried?.times ?? 0) > 0).length,
        left: all.filter(({ leftCosts = {} }) => Object.values(leftCosts).some(cost => cost > 0)).length,
        planned: began.filter(({ project }) => project?.spec.start !== undefined).length,
      }
    },
    /** How often a run has begun to rent: each day that of a daily one. */
    days: (): number => runs.all().filter(({ node, startsAt }) => !node && startsAt === undefined).length,
    /** Moves a run to another machine, as its user may; gives whether one could. */
    async move(): Promise<boolean> {
      const run = runs.all().find(isMovable)
      if (!run) return false
      return runs.move(run.id).then(
        () => true,
        () => false,
      )
    },
    async cancelAll(): Promise<void> {
      for (const { id, step } of runs.all())
        if (step !== 'done' && step !== 'failed' && step !== 'cancelled') await runs.cancel(id)
    },
    /** Rents by hand, to be destroyed after a time; gives what that costs at most by the offer's price, as is shown. */
    async rentByHand(seconds: number): Promise<number> {
      const query = { type: 'on-demand', verifiedOnly: false, storage: disk, limit: 100 } as const
      const { offers: all } = await findOffers(client.offers, query, {}, { signal: dead.signal })
      const [offer] = all
      if (offer?.price === undefined) throw new Error('no offer has a price')
      const limits: Limit[] = [{ when: { kind: 'duration', seconds }, action: 'destroy', asleep: false }]
      const rest = { image: 'pytorch', access: 'ssh' as const, env: [], ports: [] }
      await rentals.rent({ ...rest, limits, offer: offer.id, disk }, offer)
      return Math.ceil((offer.price * seconds) / 3600)
    },
    kill: () => dead.abort(),
  }
}

/** One record for each instance, as a poll decides: the one in which it runs. */
function onceEach(all: readonly Instance[]): Instance[] {
  const first = new Map<number, Instance>()
  for (const record of all)
    if (first.get(record.id)?.actual_status !== 'running') first.set(record.id, record)
  return [...first.values()]
}
