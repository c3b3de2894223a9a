import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import { accrueSpending } from '../../../../electron/core/money/accrual.ts'
import { type Counted, costsBetween } from '../../../../electron/core/money/costs.ts'
import { instanceView } from '../../views.ts'

const start = 1_800_000_000
const hour = 3600

function runs(id: number, perHour: number, since: number): InstanceView {
  return instanceView({
    id,
    costPerHour: perHour,
    startedAt: since,
    spent: { micros: 0, at: since, perHour },
  })
}

function poll(at: number, credit: number | undefined, ...instances: InstanceView[]) {
  return { at, credit, instances: Object.fromEntries(instances.map(view => [view.id, view])) }
}

function counted(at: number, credit: number | undefined, ...instances: InstanceView[]): Counted {
  return accrueSpending(undefined, poll(at, credit, ...instances)).counted
}

test('spending before the first poll is not counted', () => {
  const { spent, shares } = accrueSpending(
    undefined,
    poll(start, 10_000_000, runs(1, 400_000, start - 9 * hour)),
  )
  expect(spent).toBe(0)
  expect(shares.size).toBe(0)
})

test('shares follow the prices, the sum follows the credit', () => {
  const machine = runs(1, 400_000, start - hour)
  const before = counted(start, 10_000_000, machine)
  const { spent, toppedUp, shares } = accrueSpending(before, poll(start + hour, 9_590_000, machine))
  expect(spent).toBe(410_000)
  expect(toppedUp).toBe(0)
  expect([...shares]).toEqual([['1', 400_000]])
})

test('a top-up between two polls is separated from the spending', () => {
  const machine = runs(1, 400_000, start - hour)
  const before = counted(start, 1_000_000, machine)
  expect(accrueSpending(before, poll(start + hour, 20_600_000, machine))).toMatchObject({
    spent: 400_000,
    toppedUp: 20_000_000,
  })
})

test('a top-up is exact where the credit was read a little earlier than the prices count', () => {
  const machine = runs(1, 400_000, start - hour)
  const before = counted(start, 10_000_000, machine)
  const { spent, toppedUp } = accrueSpending(before, poll(start + 10, 49_999_900, machine))
  expect({ spent, toppedUp }).toEqual({ spent: 100, toppedUp: 40_000_000 })
})

test('a top-up smaller than the spending meanwhile is found too', () => {
  const machine = runs(1, 2_000_000, start - hour)
  const before = counted(start, 30_000_000, machine)
  expect(accrueSpending(before, poll(start + 10 * hour, 15_000_000, machine))).toMatchObject({
    spent: 20_000_000,
    toppedUp: 5_000_000,
  })
})

test('an instance destroyed while Berth was off gets only what left the credit', () => {
  const steady = runs(1, 400_000, start - hour)
  const gone = runs(2, 1_000_000, start - hour)
  const before = counted(start, 50_000_000, steady, gone)
  const { shares, spent } = accrueSpending(before, poll(start + 24 * hour, 38_400_000, steady))
  expect(spent).toBe(11_600_000)
  expect(Object.fromEntries(shares)).toEqual({ 1: 9_600_000, 2: 2_000_000 })
})

test('a new instance is charged only for the time since the last poll', () => {
  const machine = runs(7, 3_600_000, start - 100 * hour)
  const { shares } = accrueSpending(counted(start, undefined), poll(start + 10, undefined, machine))
  expect(Object.fromEntries(shares)).toEqual({ 7: 10_000 })
})

test('a top-up while instances changed is the roundest sum that fits', () => {
  const steady = runs(1, 400_000, start - hour)
  const gone = runs(2, 1_000_000, start - hour)
  const before = counted(start, 10_000_000, steady, gone)
  // It ran for two of the four hours: anything from $21.60 to $25.60 would do.
  const { spent, toppedUp, shares } = accrueSpending(before, poll(start + 4 * hour, 31_400_000, steady))
  expect({ spent, toppedUp }).toEqual({ spent: 3_600_000, toppedUp: 25_000_000 })
  expect(Object.fromEntries(shares)).toEqual({ 1: 1_600_000, 2: 2_000_000 })
})

test('an instance started between two polls gets what left the credit for it', () => {
  const steady = runs(1, 400_000, start - hour)
  const halted = runs(2, 100_000, start - hour)
  const running = {
    ...runs(2, 1_000_000, start),
    spent: { micros: 200_000, at: start + hour, perHour: 1_000_000 },
  }
  const before = counted(start, 10_000_000, steady, halted)
  // For half of the hour.
  const { shares } = accrueSpending(
    before,
    poll(start + hour, 10_000_000 - 400_000 - 550_000, steady, running),
  )
  expect(Object.fromEntries(shares)).toEqual({ 1: 400_000, 2: 550_000 })
})

test('a silent host that charges only its disk is not taken for a top-up', () => {
  const silent = instanceView({
    ...runs(1, 1_000_000, start - hour),
    state: 'silent',
    diskPricePerHour: 10_000,
  })
  const before = counted(start, 10_000_000, silent)
  const { spent, toppedUp, shares } = accrueSpending(before, poll(start + 4 * hour, 9_960_000, silent))
  expect({ spent, toppedUp }).toEqual({ spent: 40_000, toppedUp: 0 })
  expect(Object.fromEntries(shares)).toEqual({ 1: 40_000 })
})

test('a stopped instance with an overstated total is charged only what left the credit', () => {
  const halted = runs(1, 10_000, start - hour)
  const before = counted(start, 10_000_000, halted)
  // After a kill it counted as running up to the poll that found it stopped.
  const again = { ...halted, spent: { micros: 5_000_000, at: start + 4 * hour, perHour: 10_000 } }
  const { spent, toppedUp, shares } = accrueSpending(before, poll(start + 4 * hour, 9_960_000, again))
  expect({ spent, toppedUp }).toEqual({ spent: 40_000, toppedUp: 0 })
  expect(shares.get('1')).toBeLessThanOrEqual(40_001)
})

test('clock jitter does not add up in the share of a silent host', () => {
  const steady = runs(1, 1_000_000, start - hour)
  const silent = { ...runs(2, 1_000_000, start - hour), state: 'silent' as const, diskPricePerHour: 0 }
  let state = counted(start, 10_000_000, steady, silent)
  let ofSilent = 0
  for (let count = 1; count <= 1000; count += 1) {
    const wrong = count % 2 === 0 ? 1 : -1
    const credit = 10_000_000 - Math.floor((1_000_000 * 10 * count) / hour)
    const step = accrueSpending(state, poll(start + 10 * count + wrong, credit, steady, silent))
    state = step.counted
    ofSilent += step.shares.get('2') ?? 0
  }
  // Two seconds of the other instance.
  expect(ofSilent).toBeLessThan(600)
})

test('while others change, a silent host is charged at its last known rate', () => {
  for (const charges of [0, 1_000_000]) {
    const silent = { ...runs(1, 1_000_000, start - hour), state: 'silent' as const, diskPricePerHour: 0 }
    const other = runs(2, 3_000_000, start - hour)
    let credit = 50_000_000 - charges / 60
    const alone = accrueSpending(counted(start, 50_000_000, silent), poll(start + 60, credit, silent))
    expect(alone.shares.get('1') ?? 0).toBe(Math.floor(charges / 60))
    // The other one existed for half of each minute.
    credit -= charges / 60 + 25_000
    const came = accrueSpending(alone.counted, poll(start + 120, Math.floor(credit), silent, other))
    credit -= charges / 60 + 25_000
    const went = accrueSpending(came.counted, poll(start + 180, Math.floor(credit), silent))
    for (const { shares } of [came, went]) {
      expect(Math.abs((shares.get('1') ?? 0) - charges / 60)).toBeLessThan(2)
      expect(Math.abs((shares.get('2') ?? 0) - 25_000)).toBeLessThan(2)
    }
  }
})

test('a silent host’s last rate is dropped if it does not explain the credit', () => {
  const silent = { ...runs(1, 1_000_000, start - hour), state: 'silent' as const, diskPricePerHour: 0 }
  const other = runs(2, 3_000_000, start - hour)
  const alone = accrueSpending(
    counted(start, 50_000_000, silent),
    poll(start + 60, 50_000_000 - 16_667, silent),
  )
  // Less than it would have charged by its whole price.
  const { shares } = accrueSpending(
    { ...alone.counted, instances: { ...alone.counted.instances, ...counted(start, 0, other).instances } },
    poll(start + 60 + 500, 50_000_000 - 16_667 - 40_000, silent),
  )
  expect([...shares.values()].reduce((all, share) => all + share, 0)).toBeLessThanOrEqual(40_000)
  expect(shares.get('1')).toBeLessThan(40_000)
})

test('after the clock steps back the sum is still what left the credit', () => {
  const machine = runs(1, 400_000, start - hour)
  const back = accrueSpending(counted(start, 5_000_000, machine), poll(start - 600, 4_999_000, machine))
  expect(back).toMatchObject({ spent: 1000, toppedUp: 0, counted: { at: start - 600 } })
  expect(back.shares.size).toBe(0)
  expect(accrueSpending(back.counted, poll(start + 3000, 4_599_000, machine)).spent).toBe(400_000)
})

test('however many polls there are, the sum is what left the credit', () => {
  const machine = runs(1, 333_333, start)
  let state = counted(start, 500_000_000, machine)
  let total = 0
  let ofMachine = 0
  const polls = 50_000
  for (let at = 1; at <= polls; at += 1) {
    const credit = 500_000_000 - Math.floor((333_333 * at) / hour)
    const step = accrueSpending(state, poll(start + at, credit, machine))
    state = step.counted
    total += step.spent
    ofMachine += step.shares.get('1') ?? 0
  }
  expect(total).toBe(Math.floor((333_333 * polls) / hour))
  expect(ofMachine).toBe(total)
})

test('a $25 top-up with two stopped hours is preferred to a $24 top-up', () => {
  const machine = { ...runs(1, 500_000, start - hour), diskPricePerHour: 10_000 }
  const gone = runs(2, 50_000, start - hour)
  const before = counted(start, 10_000_000, machine, gone)
  // It ran for eight of the ten hours and the other one for two, though the prices at both ends suggest ten.
  const credit = 10_000_000 + 25_000_000 - 8 * 500_000 - 2 * 10_000 - 2 * 50_000
  const { spent, toppedUp, shares } = accrueSpending(before, poll(start + 10 * hour, credit, machine))
  expect({ spent, toppedUp }).toEqual({ spent: 4_120_000, toppedUp: 25_000_000 })
  expect([...shares.values()].reduce((all, share) => all + share, 0)).toBeLessThanOrEqual(spent)
})

test('an unseen stop is charged by the credit, without an invented top-up', () => {
  const machine = { ...runs(1, 1_000_000, start - hour), diskPricePerHour: 10_000 }
  const before = counted(start, 20_000_000, machine)
  const { spent, toppedUp, shares } = accrueSpending(
    before,
    poll(start + 10 * hour, 20_000_000 - 3_137_000, machine),
  )
  expect({ spent, toppedUp }).toEqual({ spent: 3_137_000, toppedUp: 0 })
  expect(shares.get('1')).toBeGreaterThan(3_136_990)
})

test('an instance gone after a boot may have run: its share and a top-up are found', () => {
  const loading = instanceView({ id: 1, state: 'loading', costPerHour: 10_000, pricePerHour: 500_000 })
  const steady = runs(2, 400_000, start - hour)
  const before = counted(start, 40_000_000, loading, steady)
  // It cost 450,000 before it was destroyed elsewhere, and 35 dollars were paid in.
  const { spent, toppedUp, shares } = accrueSpending(before, poll(start + hour, 74_150_000, steady))
  expect([spent, toppedUp]).toEqual([850_000, 35_000_000])
  expect(Object.fromEntries(shares)).toEqual({ 1: 450_000, 2: 400_000 })
})

test('an instance that was booting a poll ago leaves an odd top-up exact to the cent', () => {
  const loading = instanceView({ id: 1, state: 'loading', costPerHour: 10_000, pricePerHour: 4_000_000 })
  const steady = runs(2, 400_000, start - hour)
  const before = counted(start, 40_000_000, loading, steady)
  // A minute of the one that runs: 6,666. Of the other's disk: 166 at the most.
  const { spent, toppedUp } = accrueSpending(before, poll(start + 60, 57_303_334, steady))
  expect([spent, toppedUp]).toEqual([6666, 17_310_000])
})

test('an instance seen booting before an absence ran since then, minus the boot', () => {
  const loading = instanceView({ id: 1, state: 'loading', costPerHour: 10_000, pricePerHour: 2_000_000 })
  const before = counted(start, 40_000_000, loading)
  const running = { ...runs(1, 2_000_000, start - 60), pricePerHour: 2_000_000, diskPricePerHour: 10_000 }
  // Ten hours less three minutes, and a $35 top-up: the prices at both ends alone would leave $20 open.
  const ran = Math.floor((2_000_000 * (36_000 - 180)) / 3600)
  const after = accrueSpending(before, poll(start + 10 * hour, 40_000_000 - ran + 35_000_000, running))
  expect(after).toMatchObject({ spent: ran, toppedUp: 35_000_000, estimated: true })
})

test('an instance ran at least since the start time the service reports', () => {
  const machine = { ...runs(1, 2_000_000, start - hour), diskPricePerHour: 10_000 }
  const before = counted(start, 40_000_000, machine)
  const again = { ...machine, startedAt: start + 2 * hour }
  const costs = costsBetween(before, counted(start + 10 * hour, 0, again), { 1: again })
  const ran = Math.floor((2_000_000 * (8 * 3600 - 300)) / 3600)
  expect(costs.get('1')?.least).toBeGreaterThanOrEqual(ran)
  expect(costs.get('1')?.most).toBe(20_000_000)
})

test('without top-ups the sums are exact, whatever comes and goes', () => {
  const step = fc.record({
    seconds: fc.integer({ min: 0, max: 40_000 }),
    fell: fc.integer({ min: 0, max: 400_000 }),
    present: fc.subarray([1, 2, 3]),
    price: fc.integer({ min: 0, max: 30_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), steps => {
      let credit = 90_000_000
      let at = start
      let state = counted(at, credit)
      let total = 0
      for (const { seconds, fell, present, price } of steps) {
        at += seconds
        credit -= fell
        const taken = accrueSpending(state, poll(at, credit, ...present.map(id => runs(id, price, start))))
        state = taken.counted
        total += taken.spent - taken.toppedUp
        for (const share of taken.shares.values()) expect(share).toBeGreaterThan(0)
      }
      expect(total).toBe(90_000_000 - credit)
    }),
  )
})
