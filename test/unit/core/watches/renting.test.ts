import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { WatchWish } from '../../../../electron/contract/automation/watch.ts'
import type { Problem } from '../../../../electron/contract/problem.ts'
import { openDocument } from '../../../../electron/core/storage/json-file.ts'
import { KeptPrices } from '../../../../electron/core/watches/prices.ts'
import { Watch } from '../../../../electron/core/watches/watch.ts'
import { createWatches } from '../../../../electron/core/watches/watches.ts'
import type { ServiceClient } from '../../../../electron/service/client.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { MemoryFiles } from '../memory-files.ts'

const start = 1_800_000_000

type RunAsked = Parameters<Parameters<typeof createWatches>[0]['runs']['startOn']>[0] & { begun: number }
type Found = ReturnType<Parameters<typeof createWatches>[0]['failovers']['find']>

/** What a Berth leaves behind. */
interface Left {
  files: MemoryFiles
  secrets: Map<string, string>
}

/**
 * A watch that may rent one machine, on a market where one offer matches. Failovers begin when they are let go. With what
 * an earlier Berth left behind, it goes on from that.
 */
async function renting(left: Left = { files: new MemoryFiles(), secrets: new Map() }) {
  const clock = new HandClock()
  const { files, secrets } = left
  const kept = { files, clock, onBroken: () => undefined }
  const begun: string[] = []
  /** Whether the watch's file named each failover when that was asked to begin. */
  const noted: boolean[] = []
  const alerts: string[] = []
  const asked: RunAsked[] = []
  const forgotten: string[] = []
  const ends = new Map<string, Pick<NonNullable<Found>, 'step' | 'instance'>>()
  const guard: { waits?: Problem | undefined } = {}
  const notes: string[] = []
  let letKeychainGo: () => void = () => undefined
  let letFailoverGo: () => void = () => undefined
  const held = { keychain: false, failover: false, run: false }
  let ids = 0
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
  const watches = createWatches({
    account: 'a00000001',
    document: await openDocument({ ...kept, name: 'watches.json', schema: v.array(Watch), empty: [] }),
    prices: await openDocument({
      ...kept,
      name: 'prices.json',
      schema: v.record(v.string(), KeptPrices),
      empty: {},
    }),
    keychain: {
      persistent: true,
      problem: undefined,
      async get(name) {
        if (held.keychain) await new Promise<void>(resolve => (letKeychainGo = resolve))
        return secrets.get(name)
      },
      set: async (name, secret) => void secrets.set(name, secret),
      delete: async name => void secrets.delete(name),
    },
    failovers: {
      async start(_wish, id = '') {
        noted.push(files.texts.get('watches.json')?.includes(id) ?? false)
        if (held.failover) await new Promise<void>(resolve => (letFailoverGo = resolve))
        begun.push(id)
        return id
      },
      find: id => (begun.includes(id) ? ((ends.get(id) ?? { step: 'trying' }) as Found) : undefined),
    },
    runs: {
      async startOn(run, rent) {
        asked.push({ ...run, begun: begun.length })
        if (held.run) await new Promise<never>(() => undefined)
        return rent()
      },
      forget: async failover => void forgotten.push(failover),
    },
    heldBack: () => guard.waits,
    client: () => client as unknown as ServiceClient,
    ending: new AbortController().signal,
    now: () => start + clock.monotonic() / 1000,
    newId() {
      ids += 1
      return String(ids).padStart(16, '0')
    },
    changed: () => undefined,
    note: (_kind, text) => void notes.push(text),
    alert: ({ title }) => void alerts.push(title),
    withdraw: () => undefined,
  })
  const wish = (most: number): WatchWish => ({
    name: 'Bargain',
    search: {
      query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10 },
      filter: {},
      order: { column: 'price', descending: false },
    },
    every: 1,
    rents: {
      request: {
        image: 'ubuntu',
        access: 'ssh',
        disk: 20,
        env: [{ name: 'TOKEN', value: 'x', secret: true }],
        ports: [],
      },
      limits: { tries: 1, ceiling: 1, deadline: 600 },
      most,
    },
  })
  const begin = async (most = 1) => {
    const id = await watches.save(undefined, wish(most))
    await settled()
    return id
  }
  const lookAgain = async () => {
    await clock.pass(60_000)
    watches.looked()
    await settled()
    watches.looked()
    await settled()
  }
  return {
    watches,
    market,
    searches,
    left,
    begun,
    noted,
    alerts,
    asked,
    forgotten,
    held,
    begin,
    lookAgain,
    wish,
    ends,
    guard,
    notes,
    clock,
    letKeychainGo: () => letKeychainGo(),
    letFailoverGo: () => letFailoverGo(),
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

test('what is run on each machine is asked for before that is rented, and goes when nothing is rented by itself', async () => {
  const { watches, begun, asked, lookAgain, ends, wish } = await renting()
  const id = await watches.save(undefined, wish(2), { ...train })
  await settled()
  ends.set(begun[0] ?? '', { step: 'ready', instance: 1 })
  await lookAgain()
  expect(watches.view()[id]).toMatchObject({ run: train, rented: 1, renting: true })
  expect(asked).toMatchObject(
    [0, 1].map(before => ({ ...train, failover: begun[before], rentedAgain: true, begun: before })),
  )
  const { rents: _, ...told } = wish(2)
  await watches.save(id, told, { ...train })
  expect(watches.view()[id]).not.toHaveProperty('run')
})

test('which failover it begins is on disk before that begins, whether something is run there or not', async () => {
  const { watches, noted, wish } = await renting()
  await watches.save(undefined, wish(1))
  await watches.save(undefined, wish(1), { ...train })
  await settled()
  expect(noted).toEqual([true, true])
})

test('changed, it tells nothing again that it has told, unless it is another search that finds it', async () => {
  const { watches, alerts, wish } = await renting()
  const { rents: _, ...told } = wish(1)
  const id = await watches.save(undefined, told)
  await settled()
  expect(alerts).toHaveLength(1)
  await watches.save(id, { ...told, name: 'Cheap', every: 5 })
  await settled()
  expect(alerts).toHaveLength(1)
  await watches.save(id, { ...told, search: { ...told.search, filter: { priceTo: 2 } } })
  await settled()
  expect(alerts).toHaveLength(2)
})

test('killed before its failover began, it forgets the run that waits for that, and asks for it anew', async () => {
  const killed = await renting()
  killed.held.run = true
  await killed.watches.save(undefined, killed.wish(1), { ...train })
  await settled()
  expect([killed.asked.length, killed.begun.length]).toEqual([1, 0])
  const again = await renting(killed.left)
  await again.lookAgain()
  expect(again.forgotten).toEqual([killed.asked[0]?.failover])
  expect(again.asked).toMatchObject([{ ...train, failover: again.begun[0] }])
})

test('what it is about to rent is not taken for what never began, however long that takes', async () => {
  const { watches, begun, held, begin, clock, letFailoverGo } = await renting()
  held.failover = true
  await begin()
  for (let look = 0; look < 3; look += 1) {
    await clock.pass(60_000)
    watches.looked()
    await settled()
  }
  held.failover = false
  letFailoverGo()
  await settled()
  for (let look = 0; look < 3; look += 1) {
    await clock.pass(60_000)
    watches.looked()
    await settled()
  }
  expect(begun).toHaveLength(1)
})

for (const [how, act] of [
  [
    'paused',
    (watches: Awaited<ReturnType<typeof renting>>['watches'], id: string) => watches.pause(id, true),
  ],
  ['deleted', (watches: Awaited<ReturnType<typeof renting>>['watches'], id: string) => watches.delete(id)],
] as const)
  test(`one that is ${how} while the keychain is asked rents nothing`, async () => {
    const { watches, begun, held, begin, letKeychainGo } = await renting()
    held.keychain = true
    const id = await begin()
    await act(watches, id)
    letKeychainGo()
    await settled()
    expect(begun).toEqual([])
  })

test('it rents nothing while a guard would stop it at once, says so once, and goes on by itself', async () => {
  const { watches, begun, begin, lookAgain, guard, notes } = await renting()
  guard.waits = { code: 'held_by_guard', message: 'Waits: today’s budget of $5.00 is reached.' }
  const id = await begin()
  await lookAgain()
  await lookAgain()
  expect(begun).toEqual([])
  expect(watches.view()[id]).toMatchObject({ paused: false, waits: guard.waits })
  expect(notes.filter(text => text.includes('for now'))).toHaveLength(1)
  guard.waits = undefined
  await lookAgain()
  expect(begun).toHaveLength(1)
  expect(watches.view()[id]).not.toHaveProperty('waits')
})

test('a machine that was stopped elsewhere and is kept counts, and nothing follows it by itself', async () => {
  const { watches, begun, begin, lookAgain, ends } = await renting()
  const id = await begin(3)
  ends.set(begun[0] ?? '', { step: 'failed', instance: 4711 })
  for (let look = 0; look < 3; look += 1) await lookAgain()
  expect(begun).toHaveLength(1)
  expect(watches.view()[id]).toMatchObject({ paused: true, rented: 1, problem: { code: 'watch_kept' } })
})

test('three attempts in a row that come to nothing pause it; one that succeeds in between begins the count anew', async () => {
  const { watches, begun, begin, lookAgain, ends } = await renting()
  const id = await begin(9)
  const goes = [true, true, true, true, true, false]
  const came = ['failed', 'failed', 'ready', 'failed', 'failed', 'failed'] as const
  const wentOn: boolean[] = []
  for (const step of came) {
    ends.set(begun.at(-1) ?? '', step === 'ready' ? { step, instance: 1 } : { step })
    await lookAgain()
    wentOn.push(watches.view()[id]?.paused === false)
  }
  expect(wentOn).toEqual(goes)
  expect(begun).toHaveLength(came.length)
  expect(watches.view()[id]).toMatchObject({ rented: 1, renting: false, problem: { code: 'watch_failed' } })
  // Gone on with, it has all three again.
  await watches.pause(id, false)
  await settled()
  ends.set(begun.at(-1) ?? '', { step: 'failed' })
  await lookAgain()
  expect(watches.view()[id]).toMatchObject({ paused: false, renting: true })
})

test('done, it notes the price of its search once an hour, whatever it may pay, until the user pauses it', async () => {
  const { watches, begin, lookAgain, ends, begun, market, searches, clock, wish } = await renting()
  market.push({ id: 2, machine_id: 20, dph_total: 0.9 })
  const dear = wish(1)
  if (dear.rents) dear.rents.limits.price = 0.6
  const id = await watches.save(await begin(), dear)
  await settled()
  ends.set(begun[0] ?? '', { step: 'ready', instance: 1 })
  await lookAgain()
  expect(watches.view()[id]).toMatchObject({ paused: true, notesPrices: true })
  const hour = async () => {
    const before = searches.length
    for (let minute = 0; minute < 60; minute += 1) await lookAgain()
    return searches.length - before
  }
  expect([await hour(), await hour()]).toEqual([1, 1])
  // Half of what is found is dearer than the watch may pay.
  expect(watches.prices(id).map(({ count, lowest, high }) => [count, lowest, high])).toEqual(
    Array.from({ length: 3 }, () => [2, 500_000, 800_000]),
  )
  expect(watches.view()[id]).toMatchObject({ matching: 1, rented: 1 })
  await watches.pause(id, true)
  await clock.pass(1)
  expect([await hour(), watches.dueAt()]).toEqual([0, undefined])
})

test('it is paused once what it was renting is cancelled, and rents no other', async () => {
  const { watches, begun, begin, lookAgain, ends, notes } = await renting()
  const id = await begin(3)
  ends.set(begun[0] ?? '', { step: 'cancelled' })
  for (let look = 0; look < 3; look += 1) await lookAgain()
  expect(begun).toHaveLength(1)
  expect(watches.view()[id]).toMatchObject({ paused: true, rented: 0, renting: false })
  expect(notes.filter(text => text.includes('is paused'))).toHaveLength(1)
})

test('one that is done and then changed begins anew; one changed to fewer than it has is done', async () => {
  const { watches, begun, begin, lookAgain, wish, ends } = await renting()
  const id = await begin()
  expect(watches.view()[id]).toMatchObject({ rented: 0, renting: true })
  ends.set(begun[0] ?? '', { step: 'ready', instance: 1 })
  await lookAgain()
  expect(watches.view()[id]).toMatchObject({ rented: 1, renting: false, paused: true })
  await watches.save(id, wish(2))
  await settled()
  expect(begun).toHaveLength(2)
  ends.set(begun[1] ?? '', { step: 'ready', instance: 2 })
  await lookAgain()
  expect(watches.view()[id]).toMatchObject({ rented: 1, renting: true, paused: false })
  ends.set(begun[2] ?? '', { step: 'cancelled' })
  await lookAgain()
  await watches.save(id, wish(1))
  await settled()
  expect(begun).toHaveLength(3)
  expect(watches.view()[id]).toMatchObject({ rented: 1, paused: true })
})
