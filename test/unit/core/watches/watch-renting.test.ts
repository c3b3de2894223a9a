import { expect, test } from 'vitest'
import type { Rentals } from '#core/renting/rentals.ts'
import { Watches } from '#core/watches/perform.ts'
import type { WatchRentals, WatchRuns } from '#core/watches/renting.ts'
import { deferred } from '#platform/tasks.ts'
import type { ServiceClient } from '#service/client.ts'
import type { WatchRequest } from '#shared/automation/watch.ts'
import { account, accountContext, noting } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles, testKeychain } from '#test/berth/machine.ts'
import { someRental, someSearch } from '../renting/some-rental.ts'

const start = 1_800_000_000

type RunAsked = Parameters<WatchRuns['startOn']>[0] & { begun: number }
type Found = ReturnType<Rentals['find']>

/** What survives a kill. */
interface Left {
  files: MemoryFiles
  secrets: Map<string, string>
}

/**
 * A watch that may rent one machine, on a market with one matching offer. Rentals start when they are released. Given
 * what an earlier process left, it continues from that.
 */
async function renting(left: Left = { files: new MemoryFiles(), secrets: new Map() }) {
  const clock = new HandClock()
  const { files, secrets } = left
  const begun: string[] = []
  /** Whether the watch’s file named each rental when it was started. */
  const noted: boolean[] = []
  const { said: alerts, notifications } = noting()
  const { said: notes, activity } = noting()
  const asked: RunAsked[] = []
  const forgotten: string[] = []
  const ends = new Map<string, Pick<NonNullable<Found>, 'step' | 'instance'>>()
  /** What is awaited before the keychain answers, a rental starts or a run is requested. */
  const gates: { keychain?: Promise<void>; rental?: Promise<void>; run?: Promise<void> } = {}
  const market = [{ id: 1, machine_id: 10, dph_total: 0.5 }]
  const searches: number[] = []
  const client = {
    offers: {
      async search() {
        searches.push(clock.monotonic())
        return market
      },
    },
  }
  const context = accountContext({
    clock,
    files,
    keychain: {
      ...testKeychain(secrets),
      problem: undefined,
      async get(name) {
        await gates.keychain
        return secrets.get(name)
      },
    },
    client: () => client as unknown as ServiceClient,
    now: () => start + clock.monotonic() / 1000,
    activity,
    notifications,
  })
  const rentals: WatchRentals = {
    async start(_request, id = '') {
      noted.push(files.texts.get(`accounts/${account}/watches.json`)?.includes(id) ?? false)
      await gates.rental
      begun.push(id)
      return id
    },
    find: id => (begun.includes(id) ? ((ends.get(id) ?? { step: 'trying' }) as Found) : undefined),
  }
  const runs: WatchRuns = {
    async startOn(run, rent) {
      asked.push({ ...run, begun: begun.length })
      await gates.run
      return rent()
    },
    forget: async rental => void forgotten.push(rental),
  }
  const watches = await Watches.open(context, rentals, runs)
  const poll = () => watches.onPoll()
  const watchRequest = (most: number): WatchRequest => ({
    name: 'Bargain',
    search: someSearch,
    every: 1,
    rents: {
      request: { ...someRental().request, env: [{ name: 'TOKEN', value: 'x', secret: true }] },
      limits: { attempts: 1, ceiling: 1, deadline: 600 },
      most,
    },
  })
  const begin = async (most = 1) => {
    const id = await watches.save(undefined, watchRequest(most))
    await flushPromises()
    return id
  }
  const pollAgain = async () => {
    await clock.pass(60_000)
    poll()
    await flushPromises()
    poll()
    await flushPromises()
  }
  return {
    watches,
    poll,
    view: () => context.store.get().accounts[account]?.watches ?? {},
    market,
    searches,
    left,
    begun,
    noted,
    alerts,
    asked,
    forgotten,
    gates,
    begin,
    pollAgain,
    watchRequest,
    ends,
    notes,
    clock,
  }
}

const train = {
  name: 'train',
  command: 'python3 train.py',
  afterwards: 'stop',
  watchdog: false,
  stuckAfter: 0,
  afterwardsIfStuck: false,
} as const

test('a run is requested before each machine is rented, and goes with the renting', async () => {
  const { watches, begun, asked, pollAgain, ends, watchRequest, view } = await renting()
  const id = await watches.save(undefined, watchRequest(2), { ...train })
  await flushPromises()
  ends.set(begun[0] ?? '', { step: 'ready', instance: 1 })
  await pollAgain()
  expect(view()[id]).toMatchObject({ run: train, rented: 1, renting: true })
  expect(asked).toMatchObject(
    [0, 1].map(before => ({ ...train, rental: begun[before], rentedAgain: true, begun: before })),
  )
  const { rents: _, ...tellsOnly } = watchRequest(2)
  await watches.save(id, tellsOnly, { ...train })
  expect(view()[id]).not.toHaveProperty('run', expect.anything())
})

test('the id of a rental is on disk before it starts, with a run or without', async () => {
  const { watches, noted, watchRequest } = await renting()
  await watches.save(undefined, watchRequest(1))
  await watches.save(undefined, watchRequest(1), { ...train })
  await flushPromises()
  expect(noted).toEqual([true, true])
})

test('a watch reports new offers only, none after an edit or at the start of a new search', async () => {
  const { watches, alerts, market, watchRequest } = await renting()
  const { rents: _, ...tellsOnly } = watchRequest(1)
  const id = await watches.save(undefined, tellsOnly)
  await flushPromises()
  expect(alerts).toHaveLength(0)
  market.push({ id: 2, machine_id: 20, dph_total: 0.4 })
  await watches.search(id)
  expect(alerts).toHaveLength(1)
  await watches.save(id, { ...tellsOnly, name: 'Cheap', every: 5 })
  await flushPromises()
  expect(alerts).toHaveLength(1)
  await watches.save(id, { ...tellsOnly, search: { ...tellsOnly.search, filter: { priceTo: 2 } } })
  await flushPromises()
  expect(alerts).toHaveLength(1)
  market.push({ id: 3, machine_id: 30, dph_total: 0.3 })
  await watches.search(id)
  expect(alerts).toHaveLength(2)
})

test('after a kill before its attempts, a watch forgets the waiting run and requests another', async () => {
  const killed = await renting()
  killed.gates.run = new Promise(() => undefined)
  await killed.watches.save(undefined, killed.watchRequest(1), { ...train })
  await flushPromises()
  expect([killed.asked.length, killed.begun.length]).toEqual([1, 0])
  const again = await renting(killed.left)
  await again.pollAgain()
  expect(again.forgotten).toEqual([killed.asked[0]?.rental])
  expect(again.asked).toMatchObject([{ ...train, rental: again.begun[0] }])
})

test.each([
  ['has rented all it may', 1, { step: 'ready', instance: 1 }],
  ['kept a machine that was stopped elsewhere', 2, { step: 'failed', instance: 1 }],
] as const)(
  'a watch that %s is on disk as paused at once, whenever Berth is killed',
  async (_, most, end) => {
    const { begin, begun, ends, pollAgain, left } = await renting()
    await begin(most)
    ends.set(begun[0] ?? '', end)
    await pollAgain()
    const after = left.files.writes.filter(({ text }) => text.includes('"rented": 1'))
    expect(after.length).toBeGreaterThan(0)
    for (const { text } of after) expect(text).toContain('"paused": true')
  },
)

test('a slow start of attempts is not taken for one that never began', async () => {
  const { begun, gates, begin, pollAgain } = await renting()
  const gate = deferred<void>()
  gates.rental = gate.promise
  await begin()
  for (let round = 0; round < 3; round += 1) await pollAgain()
  gate.resolve()
  for (let round = 0; round < 3; round += 1) await pollAgain()
  expect(begun).toHaveLength(1)
})

test.each(['pause', 'delete'] as const)(
  'a %sd watch rents nothing, also while the keychain is asked',
  async how => {
    const { watches, begun, gates, begin } = await renting()
    const gate = deferred<void>()
    gates.keychain = gate.promise
    const id = await begin()
    await watches[how](id, true)
    gate.resolve()
    await flushPromises()
    expect(begun).toEqual([])
  },
)

test('a failed attempt that keeps its machine counts as rented, and pauses the watch', async () => {
  const { begun, begin, pollAgain, ends, view } = await renting()
  const id = await begin(3)
  ends.set(begun[0] ?? '', { step: 'failed', instance: 4711 })
  for (let round = 0; round < 3; round += 1) await pollAgain()
  expect(begun).toHaveLength(1)
  expect(view()[id]).toMatchObject({ paused: true, rented: 1, problem: { code: 'watch_kept' } })
})

test('three failures in a row pause a watch; a success in between resets the count', async () => {
  const { watches, begun, begin, pollAgain, ends, view } = await renting()
  const id = await begin(9)
  const goes = [true, true, true, true, true, false]
  const came = ['failed', 'failed', 'ready', 'failed', 'failed', 'failed'] as const
  const wentOn: boolean[] = []
  for (const step of came) {
    ends.set(begun.at(-1) ?? '', step === 'ready' ? { step, instance: 1 } : { step })
    await pollAgain()
    wentOn.push(view()[id]?.paused === false)
  }
  expect(wentOn).toEqual(goes)
  expect(begun).toHaveLength(came.length)
  expect(view()[id]).toMatchObject({ rented: 1, renting: false, problem: { code: 'watch_failed' } })
  // Resumed, it has all three again.
  await watches.pause(id, false)
  await flushPromises()
  ends.set(begun.at(-1) ?? '', { step: 'failed' })
  await pollAgain()
  expect(view()[id]).toMatchObject({ paused: false, renting: true })
})

test('a watch that is done notes prices once an hour, until the user pauses it', async () => {
  const { watches, begin, pollAgain, ends, begun, market, searches, clock, watchRequest, view } =
    await renting()
  market.push({ id: 2, machine_id: 20, dph_total: 0.9 })
  const dear = watchRequest(1)
  if (dear.rents) dear.rents.limits.price = 0.6
  const id = await watches.save(await begin(), dear)
  await flushPromises()
  ends.set(begun[0] ?? '', { step: 'ready', instance: 1 })
  await pollAgain()
  expect(view()[id]).toMatchObject({ paused: true, notesPrices: true })
  const hour = async () => {
    const before = searches.length
    for (let minute = 0; minute < 60; minute += 1) await pollAgain()
    return searches.length - before
  }
  expect([await hour(), await hour()]).toEqual([1, 1])
  // Half of what is found is dearer than the watch may pay.
  expect(watches.prices(id).map(({ count, lowest, high }) => [count, lowest, high])).toEqual(
    Array.from({ length: 3 }, () => [2, 500_000, 800_000]),
  )
  expect(view()[id]).toMatchObject({ matching: 1, rented: 1 })
  await watches.pause(id, true)
  await clock.pass(1)
  expect([await hour(), watches.dueAt?.(0)]).toEqual([0, Number.POSITIVE_INFINITY])
})

test('a watch is paused once its attempts are cancelled, and rents no other', async () => {
  const { begun, begin, pollAgain, ends, notes, view } = await renting()
  const id = await begin(3)
  ends.set(begun[0] ?? '', { step: 'cancelled' })
  for (let round = 0; round < 3; round += 1) await pollAgain()
  expect(begun).toHaveLength(1)
  expect(view()[id]).toMatchObject({ paused: true, rented: 0, renting: false })
  expect(notes.filter(text => text.includes('is paused'))).toHaveLength(1)
})

test('a finished watch continues when changed, and ends when changed to fewer', async () => {
  const { watches, begun, begin, pollAgain, watchRequest, ends, view } = await renting()
  const id = await begin()
  expect(view()[id]).toMatchObject({ rented: 0, renting: true })
  ends.set(begun[0] ?? '', { step: 'ready', instance: 1 })
  await pollAgain()
  expect(view()[id]).toMatchObject({ rented: 1, renting: false, paused: true })
  await watches.save(id, watchRequest(2))
  await flushPromises()
  expect(begun).toHaveLength(2)
  ends.set(begun[1] ?? '', { step: 'ready', instance: 2 })
  await pollAgain()
  expect(view()[id]).toMatchObject({ rented: 1, renting: true, paused: false })
  ends.set(begun[2] ?? '', { step: 'cancelled' })
  await pollAgain()
  await watches.save(id, watchRequest(1))
  await flushPromises()
  expect(begun).toHaveLength(3)
  expect(view()[id]).toMatchObject({ rented: 1, paused: true })
})
