import { expect, test } from 'vitest'
import type { AccountPoll } from '#core/account-context.ts'
import { localDay, nextMidnight } from '#core/money/days.ts'
import { openMoney } from '#core/money/money.ts'
import { createStore } from '#core/storage/store.ts'
import { spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { accountView, emptyState, instanceView } from '#test/unit/views.ts'

const midnight = nextMidnight(1_800_000_000)
const perHour = 3_600_000

/** A poll with an instance that has cost a dollar per thousand seconds since a day before `midnight`, or `times` as much. */
function pollAccount(at: number, credit: number, times = 1): AccountPoll {
  const since = midnight - 86_400
  const view = instanceView({
    id: 7,
    gpu: { name: 'RTX 4090', count: 1 },
    costPerHour: perHour * times,
    spent: { micros: 0, at: since, perHour: perHour * times },
  })
  return {
    account: accountView({}, view),
    records: [],
    unconfirmed: new Set(),
    pollsMissing: () => 0,
    at,
    credit,
  }
}

/** The instance at a poll, whose cost goes on from what is shown. */
function runOn(shown: InstanceView | undefined, at: number): InstanceView {
  const view = shown ?? instanceView({ id: 7 })
  return { ...view, spent: { ...view.spent, micros: spentBy(view, at), at } }
}

/** Polls every ten seconds from one moment to another, or so often. */
function watch(money: { onPoll(poll: AccountPoll): void }, from: number, to: number, every = 10): void {
  for (let at = from; at <= to; at += every)
    money.onPoll(pollAccount(at, 500_000_000 - Math.round((at - midnight) * 1000)))
}

const open = (files: MemoryFiles, clock: HandClock, now: number, store = createStore(emptyState())) =>
  openMoney({
    account: 'a00000001',
    store,
    platform: { clock } as never,
    files,
    folder: 'accounts/a00000001',
    onBroken: setAside => expect.fail(`broken: ${setAside}`),
    now: () => now,
  })

test('days, samples and today’s sum add up over midnight and a restart', async () => {
  const files = new MemoryFiles()
  const clock = new HandClock()
  const first = await open(files, clock, midnight - 600)
  watch(first, midnight - 600, midnight + 300)
  await first.flush()
  const second = await open(files, clock, midnight + 900)
  watch(second, midnight + 310, midnight + 900)
  const { days, samples, names } = second.history(0, 5000)
  expect(days.map(({ day, spent }) => [day, spent])).toEqual([
    [localDay(midnight - 1), 600_000],
    [localDay(midnight), 900_000],
  ])
  expect(second.spentToday()).toBe(900_000)
  expect(samples.reduce((sum, { spent }) => sum + spent, 0)).toBe(1_500_000)
  expect(names).toEqual({ 7: { gpu: 'RTX 4090' } })
  expect(days[1]?.models).toEqual({ 'RTX 4090': 900_000 })
})

test('days before the first poll, as without a key, are not known', async () => {
  const files = new MemoryFiles()
  const clock = new HandClock()
  const money = await open(files, clock, midnight - 3 * 86_400)
  watch(money, midnight - 60, midnight + 60)
  const days = money.history(0, 10).days.map(({ day }) => day)
  expect(days).toEqual([localDay(midnight - 60), localDay(midnight)])
})

test('a credit that is told in steps leaves each instance its cost', async () => {
  const store = createStore({
    ...emptyState(),
    accounts: { a00000001: pollAccount(midnight, 0, 100).account },
  })
  const money = await open(new MemoryFiles(), new HandClock(), midnight, store)
  for (let at = midnight; at <= midnight + 3600; at += 10) {
    const account = store.get().accounts['a00000001'] ?? accountView({})
    const told = at - ((at - midnight) % 60)
    money.onPoll({
      ...pollAccount(at, 900_000_000 - (told - midnight) * 100_000),
      account: { ...account, instances: { 7: runOn(account.instances[7], at) } },
    })
  }
  const [today] = money.history(0, 5000).days
  expect([today?.spent, today?.instances['7']]).toEqual([360_000_000, 360_000_000])
})

test('a date that steps back over midnight, as on a journey west, loses nothing', async () => {
  const files = new MemoryFiles()
  const clock = new HandClock()
  const first = await open(files, clock, midnight - 3000)
  watch(first, midnight - 7200, midnight + 300)
  watch(first, midnight - 3000, midnight - 1500)
  expect(first.spentToday()).toBe(7_200_000 + 1_500_000)
  await first.flush()
  const second = await open(files, clock, midnight + 600)
  watch(second, midnight - 1490, midnight + 600)
  const { days } = second.history(0, 5000)
  expect(days.map(({ day, spent }) => [day, spent])).toEqual([
    [localDay(midnight - 1), 7_200_000 + 3_000_000],
    [localDay(midnight), 300_000 + 600_000],
  ])
  expect(second.spentToday()).toBe(900_000)
})

test('after a kill between any two writes nothing is lost or counted twice', async () => {
  const clock = new HandClock()
  const files = new MemoryFiles()
  const money = await open(files, clock, midnight - 600)
  for (let at = midnight - 600; at <= midnight + 700; at += 10) {
    watch(money, at, at)
    await clock.pass(1000)
  }
  expect(files.writes.length).toBeGreaterThan(4)
  for (let kept = 0; kept <= files.writes.length; kept += 1) {
    const disk = new MemoryFiles()
    for (const { name, text } of files.writes.slice(0, kept)) await disk.write(name, text)
    const again = await open(disk, new HandClock(), midnight + 1300)
    watch(again, midnight + 710, midnight + 1300)
    const { days, samples } = again.history(0, 5000)
    const seenFrom = kept === 0 ? midnight + 710 : midnight - 600
    const total = (midnight + 1300 - seenFrom) * 1000
    expect(days.reduce((sum, { spent }) => sum + spent, 0)).toBe(total)
    expect(samples.reduce((sum, { spent }) => sum + spent, 0)).toBe(total)
  }
})

test('a price change is on disk within a second, and unchanged polls write nothing', async () => {
  const files = new MemoryFiles()
  const clock = new HandClock()
  const money = await open(files, clock, midnight + 10)
  watch(money, midnight + 10, midnight + 20)
  await clock.pass(1000)
  const before = files.writes.length
  watch(money, midnight + 30, midnight + 40)
  await clock.pass(1000)
  expect(files.writes).toHaveLength(before)
  const halted = instanceView({ id: 7, costPerHour: 1000 })
  money.onPoll({ ...pollAccount(midnight + 50, 499_950_000), account: accountView({}, halted) })
  await clock.pass(1000)
  expect(files.writes).toHaveLength(before + 1)
})

test('the stored data of 90 days stays below five megabytes', async () => {
  const files = new MemoryFiles()
  const money = await open(files, new HandClock(), midnight)
  for (let at = midnight; at <= midnight + 95 * 86_400; at += 300)
    money.onPoll(pollAccount(at, 9_000_000_000_000 - Math.round((at - midnight) * 1000)))
  await money.flush()
  const size = [...files.texts.values()].reduce((sum, text) => sum + text.length, 0)
  expect(size).toBeGreaterThan(100_000)
  expect(size).toBeLessThan(5_000_000)
  expect(money.history(0, 100_000).samples.length).toBeLessThanOrEqual(90 * 288 + 288)
})

test('after sleep over two midnights each day has its part and the top-up is found', async () => {
  const files = new MemoryFiles()
  const money = await open(files, new HandClock(), midnight - 3600)
  money.onPoll(pollAccount(midnight - 3600, 500_000_000))
  const later = midnight + 26 * 3600
  money.onPoll(pollAccount(later, 500_000_000 - 27 * perHour + 100_000_000))
  const { days } = money.history(0, 5000)
  expect(days.map(({ spent }) => spent)).toEqual([perHour, 24 * perHour, 2 * perHour])
  expect(days.map(({ toppedUp }) => toppedUp)).toEqual([0, 0, 100_000_000])
  expect(days.some(({ estimated }) => estimated)).toBe(true)
})

test('each day that an estimate touches is marked estimated, after a restart too', async () => {
  const files = new MemoryFiles()
  const money = await open(files, new HandClock(), midnight - 3600)
  money.onPoll(pollAccount(midnight - 3600, 500_000_000))
  // Either $50 and a mostly stopped instance, or $100 and something else that ran.
  money.onPoll(pollAccount(midnight + 9 * 3600, 500_000_000 + 41_700_000))
  money.onPoll(pollAccount(midnight + 9 * 3600 + 10, 500_000_000 + 41_690_000))
  await money.flush()
  const again = await open(files, new HandClock(), midnight + 9 * 3600 + 20)
  expect(again.history(0, 5000).days.map(({ estimated }) => estimated)).toEqual([true, true])
})

test('a clock that jumps far ahead for one poll loses no spending', async () => {
  for (const leap of [90_123, 400 * 86_400 + 1234, 7000 * 365 * 86_400 + 777]) {
    const files = new MemoryFiles()
    const money = await open(files, new HandClock(), midnight)
    const spentBy = (at: number) => Math.round((at - midnight) * 1000)
    watch(money, midnight - 3 * 86_400, midnight + 600, 60)
    money.onPoll(pollAccount(midnight + 610 + leap, 500_000_000 - spentBy(midnight + 610)))
    watch(money, midnight + 620, midnight + 1200)
    await money.flush()
    const again = await open(files, new HandClock(), midnight + 1200)
    const { days, samples } = again.history(0, 100_000)
    expect(days.reduce((sum, { spent }) => sum + spent, 0)).toBe(spentBy(midnight + 1200) + 3 * 86_400_000)
    expect(days.reduce((sum, { toppedUp }) => sum + toppedUp, 0)).toBe(0)
    expect(days.every(({ day }) => day <= localDay(midnight + 86_400))).toBe(true)
    // A leap to the day after this one may be a journey.
    const isFar = leap > 2 * 86_400
    const sums = ({ instances, uses = {} }: (typeof days)[number]) =>
      [instances[7] ?? 0, (uses[7]?.gpu ?? 0) + (uses[7]?.disk ?? 0) + (uses[7]?.traffic ?? 0)] as const
    if (isFar) expect(again.spentToday()).toBeGreaterThan(spentBy(midnight + 1200) - 10_000)
    for (const [instance, used] of days.map(sums)) expect(Math.abs(instance - used)).toBeLessThan(1000)
    // Those of three days, and today’s.
    expect(samples.length).toBeGreaterThan(3 * 288)
    const ends = samples.map(({ at }) => at)
    expect(ends).toEqual([...new Set(ends)].sort((a, b) => a - b))
    expect(ends.at(-1)).toBe(midnight + 1200)
  }
})

test('a clock that steps back over midnight leaves samples in order', async () => {
  const money = await open(new MemoryFiles(), new HandClock(), midnight + 600)
  watch(money, midnight - 86_400, midnight + 600, 60)
  watch(money, midnight - 40_000, midnight - 39_000)
  for (const most of [1, 7, 5000]) {
    const ends = money.history(0, most).samples.map(({ at }) => at)
    expect(ends.every(Number.isFinite)).toBe(true)
    expect(ends).toEqual([...new Set(ends)].sort((a, b) => a - b))
    expect(ends.length).toBeLessThanOrEqual(most + 1)
  }
})

test('without credit readings spending follows the prices, later the credit again', async () => {
  const money = await open(new MemoryFiles(), new HandClock(), midnight)
  watch(money, midnight, midnight + 100)
  for (let at = midnight + 110; at <= midnight + 500; at += 10) {
    const { credit: _, ...poll } = pollAccount(at, 0)
    money.onPoll(poll)
  }
  watch(money, midnight + 510, midnight + 1000)
  expect(money.spentToday()).toBe(1_000_000)
  const { days, samples } = money.history(0, 5000)
  expect(days.map(({ spent, toppedUp, credit }) => [spent, toppedUp, credit])).toEqual([
    [1_000_000, 0, 499_000_000],
  ])
  expect(samples.map(({ spent }) => spent).reduce((a, b) => a + b, 0)).toBe(1_000_000)
})

test('a first poll without credit after a night loses no top-up and no spending', async () => {
  const start = midnight - 600
  const night = 10 * 3600
  const money = await open(new MemoryFiles(), new HandClock(), start)
  money.onPoll(pollAccount(start, 500_000_000))
  const { credit: _, ...without } = pollAccount(start + night, 0)
  money.onPoll(without)
  money.onPoll(pollAccount(start + night + 60, 500_000_000 + 50_000_000 - (night + 60) * 1000))
  const { days } = money.history(0, 10)
  expect(days.reduce((sum, { toppedUp }) => sum + toppedUp, 0)).toBe(50_000_000)
  expect(days.reduce((sum, { spent }) => sum + spent, 0)).toBe((night + 60) * 1000)
})

test('an instance that a watchdog stopped offline costs the fall of the credit', async () => {
  const store = createStore({ ...emptyState(), accounts: { a00000001: accountView() } })
  const money = await open(new MemoryFiles(), new HandClock(), midnight, store)
  const poll = pollAccount(midnight + 60, 500_000_000)
  money.onPoll(poll)
  // It was stopped after an hour, and seen so nine hours later: by its price it would have cost ten hours.
  const at = midnight + 60 + 36_000
  const earlier = 86_400_000 + 60_000
  const stopped = instanceView({
    id: 7,
    state: 'stopped',
    gpu: { name: 'RTX 4090', count: 1 },
    costPerHour: 0,
    spent: { micros: earlier + 36_000_000, at, perHour: 0 },
  })
  const after = { ...poll, account: accountView({}, stopped), at, credit: 500_000_000 - 3_600_000 }
  store.change(draft => {
    draft.accounts['a00000001'] = after.account
  })
  money.onPoll(after)
  expect(store.get().accounts['a00000001']?.instances[7]?.spent.micros).toBe(earlier + 3_600_000)
  expect(money.history(0, 10).days.at(-1)?.instances[7]).toBe(3_600_000)
})

test('machines of a project have its name, whatever their runs are called', async () => {
  const project = `p${'0'.repeat(16)}`
  const store = createStore(emptyState())
  store.change(draft => {
    draft.projects[project] = { id: project, name: 'digits', folder: '~/digits', problems: [] }
  })
  const money = await open(new MemoryFiles(), new HandClock(), midnight, store)
  const polled = pollAccount(midnight, 500_000_000)
  const run = { id: 'r00000001', name: 'digits 6', project, instance: 7, sweep: { id: 's00000001', run: 6 } }
  const runs = { [run.id]: run } as never
  for (const at of [midnight, midnight + 60])
    money.onPoll({
      ...polled,
      account: { ...polled.account, runs },
      at,
      credit: 500_000_000 - (at - midnight) * 1000,
    })
  expect(money.history(0, 10).names[7]).toMatchObject({ project: 'digits' })
})

test('a label of 128 characters is kept whole, and a longer one ends with a sign that it was cut', async () => {
  const money = await open(new MemoryFiles(), new HandClock(), midnight)
  const run = 'seed-42-run-17'.padStart(128, 'x')
  const { account, ...polled } = pollAccount(midnight, 500_000_000)
  const instances = {
    7: instanceView({ ...account.instances[7], id: 7, label: run }),
    8: instanceView({ id: 8, label: `${run}8` }),
  }
  money.onPoll({ ...polled, account: { ...account, instances } })
  const { names } = money.history(0, 10)
  expect([names[7]?.label, names[8]?.label?.at(-1)]).toEqual([run, '…'])
})

test('what something else spent while Berth was off is charged to no stopped machine, and to an outbid one as inferred', async () => {
  const [files, clock, hour] = [new MemoryFiles(), new HandClock(), 3600]
  const at = midnight - 20 * hour
  const prices = { pricePerHour: 1_000_000, costPerHour: 10_000, diskPricePerHour: 10_000 }
  const spent = { micros: 0, at, perHour: 10_000 }
  const stopped = instanceView({ id: 7, ...prices, state: 'stopped', intendedStatus: 'stopped', spent })
  const outbid = instanceView({ id: 8, ...prices, state: 'outbid', intendedStatus: 'running', spent })
  const store = createStore({ ...emptyState(), accounts: { a00000001: accountView({}, stopped, outbid) } })
  const poll = (at: number, credit: number): AccountPoll => {
    const account = store.get().accounts['a00000001'] ?? expect.fail()
    return { account, records: [], unconfirmed: new Set(), pollsMissing: () => 0, at, credit }
  }
  const first = await open(files, clock, at, store)
  first.onPoll(poll(at, 100_000_000))
  await first.flush()
  const second = await open(files, clock, at + 10 * hour, store)
  second.onPoll(poll(at + 10 * hour, 50_000_000))
  const { 7: one, 8: other } = store.get().accounts['a00000001']?.instances ?? {}
  expect(spentBy(one ?? expect.fail(), at + 10 * hour)).toBe(100_000)
  expect(one?.spent.inferred).toBeUndefined()
  expect(other?.spent).toMatchObject({ micros: 10_000_000, inferred: 9_900_000 })
  expect(second.spentToday()).toBe(50_000_000)
})
