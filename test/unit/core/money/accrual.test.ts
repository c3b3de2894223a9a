import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accrueSpending, type Counted } from '#core/money/accrual.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'

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
  expect(accrueSpending(before, poll(start + 360, 20_960_000, machine))).toMatchObject({
    spent: 40_000,
    toppedUp: 20_000_000,
    estimated: false,
  })
  expect(accrueSpending(before, poll(start + hour, 20_600_000, machine))).toMatchObject({
    spent: 400_000,
    toppedUp: 20_000_000,
    estimated: true,
  })
})

test('a top-up is exact where the credit was read a little earlier than the prices count', () => {
  const machine = runs(1, 400_000, start - hour)
  const before = counted(start, 10_000_000, machine)
  const { spent, toppedUp } = accrueSpending(before, poll(start + 10, 49_999_900, machine))
  expect({ spent, toppedUp }).toEqual({ spent: 100, toppedUp: 40_000_000 })
})

test('a new instance is charged only for the time since the last poll', () => {
  const machine = runs(7, 3_600_000, start - 100 * hour)
  const { shares } = accrueSpending(counted(start, undefined), poll(start + 10, undefined, machine))
  expect(Object.fromEntries(shares)).toEqual({ 7: 10_000 })
})

test('after the clock steps back the sum still equals the fall of the credit', () => {
  const machine = runs(1, 400_000, start - hour)
  const back = accrueSpending(counted(start, 5_000_000, machine), poll(start - 600, 4_999_000, machine))
  expect(back).toMatchObject({ spent: 1000, toppedUp: 0, counted: { at: start - 600 } })
  expect(back.shares.size).toBe(0)
  const went = { ...machine, spent: { ...machine.spent, at: machine.spent.at - 3600 } }
  const on = accrueSpending(counted(start, 5_000_000, machine), poll(start - 2700, 4_900_000, went))
  expect(on.shares.get('1')).toBe(100_000)
  expect(accrueSpending(back.counted, poll(start + 3000, 4_599_000, machine)).spent).toBe(400_000)
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

test('a sum paid in during a break shows only where the credit rose, else the day is an estimate', () => {
  const machine = runs(1, 2_000_000, start - hour)
  const before = counted(start, 30_000_000, machine)
  expect(accrueSpending(before, poll(start + 10 * hour, 15_000_000, machine))).toMatchObject({
    spent: 15_000_000,
    toppedUp: 0,
    estimated: true,
  })
})

test('after a break one that is gone cost what is left of the fall of the credit', () => {
  const steady = runs(1, 400_000, start - hour)
  const gone = runs(2, 1_000_000, start - hour)
  const before = counted(start, 50_000_000, steady, gone)
  const after = accrueSpending(before, poll(start + 10 * hour, 43_000_000, steady))
  expect(Object.fromEntries(after.shares)).toEqual({ 1: 4_000_000, 2: 3_000_000 })
  expect(after.corrected.size).toBe(0)
})

test('without the credit an instance that is gone has cost its price until now', () => {
  const { spent, shares } = accrueSpending(
    counted(start, undefined, runs(1, 3_600_000, start)),
    poll(start + 10, undefined),
  )
  expect([spent, shares.get('1')]).toEqual([10_000, 10_000])
})

test('a share divides into traffic, the disk by its price, and the GPUs with the time that they ran', () => {
  const machine = { ...runs(1, 1_000_000, start - hour), diskPricePerHour: 100_000 }
  const moved = {
    ...machine,
    traffic: { spent: 50_000 },
    spent: { micros: 2_050_000, at: start + hour, perHour: 1_000_000 },
  }
  const usesAfter = (credit: number, ...seen: InstanceView[]) =>
    accrueSpending(counted(start, 9_000_000, machine), poll(start + hour, credit, ...seen)).uses.get('1')
  expect(usesAfter(7_950_000, moved)).toEqual({ gpu: 900_000, disk: 100_000, traffic: 50_000, ran: hour })
  // It ran for half of the time, unseen.
  expect(usesAfter(8_450_000, machine)).toEqual({ gpu: 450_000, disk: 100_000, traffic: 0, ran: hour / 2 })
})

test('a price that the credit disproves is no payment, and costs an instance no more than what left the account', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 800_001, max: 900_000_000 }),
      fc.integer({ min: 0, max: 250_000 }),
      (lie, fell) => {
        const machine = runs(1, lie, start)
        const before = counted(start, 10_000_000, {
          ...machine,
          spent: { micros: 0, at: start, perHour: 1000 },
        })
        const after = poll(start + hour, 10_000_000 - fell, machine)
        const { spent, toppedUp, shares, corrected } = accrueSpending(
          { ...before, at: start + hour - 60, instances: before.instances },
          {
            ...after,
            instances: { 1: { ...machine, spent: { micros: lie, at: start + hour, perHour: lie } } },
          },
        )
        expect([spent, toppedUp]).toEqual([fell, 0])
        expect(shares.get('1') ?? 0).toBeLessThanOrEqual(fell)
        expect(corrected.get('1') ?? 0).toBeLessThanOrEqual(fell)
        expect(corrected.size).toBe(1)
      },
    ),
  )
})

test('traffic that nobody paid for costs a stopped instance nothing, and another one no part of its cost', () => {
  const claimed = (spent: number, seconds: number): InstanceView => ({
    ...runs(2, 3600, start),
    pricePerHour: 400_000,
    traffic: { spent },
    spent: { micros: spent + seconds, at: start + seconds, perHour: 3600 },
  })
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 20 * hour }),
      fc.integer({ min: 10_000, max: 900_000_000 }),
      fc.double({ min: 0, max: 0.45, noNaN: true }),
      (seconds, lie, paidFor) => {
        const running = runs(1, 360_000, start)
        const earned = (360_000 * seconds) / hour + seconds
        const before = counted(start, 50_000_000, running, claimed(0, 0))
        const credit = 50_000_000 - Math.floor(earned + lie * paidFor)
        const { shares } = accrueSpending(
          before,
          poll(start + seconds, credit, running, claimed(lie, seconds)),
        )
        expect(shares.get('1')).toBeGreaterThanOrEqual(Math.floor((360_000 * seconds) / hour) - 1)
        expect(shares.get('2')).toBeLessThanOrEqual(seconds + lie * paidFor + 1)
      },
    ),
  )
})

test('traffic that was paid for counts on a stopped instance, too', () => {
  const stopped = { ...runs(1, 0, start), pricePerHour: 400_000, traffic: { spent: 0 } }
  const copied = { ...stopped, traffic: { spent: 80_000 }, spent: { micros: 80_000, at: start, perHour: 0 } }
  const { shares, corrected } = accrueSpending(
    counted(start, 1_000_000, stopped),
    poll(start + 60, 920_000, copied),
  )
  expect([shares.get('1'), corrected.size]).toEqual([80_000, 0])
})

/** A machine over a gap: seen at both ends, and what it cost in between by its ledger. */
interface Life {
  running: number
  disk: number
  /** Whether it ran at the first and at the last poll. */
  ranThen: boolean
  runsNow: boolean
  /** The part of the gap for which it ran. */
  ran: number
  /** By how much its price had risen by the second poll, at some moment of the gap. */
  rise?: { factor: number; from: number }
}

const life: fc.Arbitrary<Life> = fc
  .record({
    running: fc.integer({ min: 20_000, max: 3_000_000 }),
    disk: fc.integer({ min: 0, max: 15_000 }),
    ranThen: fc.boolean(),
    runsNow: fc.boolean(),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ part, ranThen, runsNow, ...prices }) => {
    const ran = ranThen === runsNow ? Number(ranThen) : part
    return { ...prices, ranThen, runsNow, ran }
  })

/** The shares of machines over a gap of `hours`, in which something else spent `foreign`. */
function sharesOver(lives: readonly Life[], hours: number, foreign: number, knowsCredit = true) {
  const ledger = lives.map(({ running, disk, ran, rise }) => {
    const dearer = rise === undefined ? 0 : (rise.factor - 1) * Math.min(ran, 1 - rise.from)
    return Math.floor((disk + (running - disk) * ran + running * dearer) * hours)
  })
  const seen = (at: 'then' | 'now') =>
    lives.map(({ running: first, disk, ranThen, runsNow, rise }, index) => {
      const isRunning = at === 'then' ? ranThen : runsNow
      const running = at === 'now' ? first * (rise?.factor ?? 1) : first
      // The view goes on at the price of the first poll.
      const price = ranThen ? first : disk
      const passed = at === 'then' ? 0 : hours
      return instanceView({
        id: index + 1,
        state: isRunning ? 'running' : 'stopped',
        intendedStatus: isRunning ? 'running' : 'stopped',
        costPerHour: isRunning ? running : disk,
        pricePerHour: running,
        diskPricePerHour: disk,
        spent: {
          micros: Math.floor(price * passed),
          at: start + passed * hour,
          perHour: isRunning ? running : disk,
        },
      })
    })
  const fell = foreign + ledger.reduce((total, cost) => total + cost, 0)
  const credit = (amount: number) => (knowsCredit ? amount : undefined)
  const before = counted(start, credit(900_000_000), ...seen('then'))
  const after = accrueSpending(before, poll(start + hours * hour, credit(900_000_000 - fell), ...seen('now')))
  return {
    ...after,
    ledger,
    fell,
    shareOf: (index: number) => after.shares.get(String(index + 1)) ?? 0,
    /** What limits go by. */
    costOf: (index: number) => after.counted.instances[index + 1]?.spent ?? 0,
    inferredOf: (index: number) => after.inferred.get(String(index + 1)) ?? 0,
  }
}

const cent = 10_000

test('no machine costs more over a gap than it can have, whatever else was spent', () => {
  fc.assert(
    fc.property(
      fc.array(life, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 80 }),
      fc.integer({ min: 0, max: 300_000_000 }),
      (lives, hours, foreign) => {
        const { shareOf, spent, fell } = sharesOver(lives, hours, foreign)
        expect(spent).toBe(fell)
        lives.forEach(({ running, disk, ranThen, runsNow }, index) => {
          const most = (ranThen || runsNow ? running : disk) * hours
          expect(shareOf(index)).toBeLessThanOrEqual(most)
          // One that ran at both polls, or at none, has its price.
          if (ranThen === runsNow) expect(Math.abs(shareOf(index) - most)).toBeLessThan(cent)
        })
      },
    ),
  )
})

test('where the credit doesn’t tell what a gap cost, limits count no less than was charged, and destroy for no more', () => {
  const rise = fc.option(
    fc.record({
      factor: fc.double({ min: 1, max: 30, noNaN: true }),
      from: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { nil: undefined },
  )
  const rising = fc.tuple(life, rise).map(([one, rise]): Life => ({ ...one, ...(rise && { rise }) }))
  fc.assert(
    fc.property(
      fc.array(rising, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 80 }),
      fc.integer({ min: cent, max: 900_000_000 }),
      fc.boolean(),
      (lives, hours, beyond, knowsCredit) => {
        const all = sharesOver(lives, hours, 0, knowsCredit)
        // More was paid in than was spent.
        const paid = all.fell + beyond
        const { costOf, inferredOf, ledger } = knowsCredit ? sharesOver(lives, hours, -paid) : all
        for (const [index, cost] of ledger.entries()) {
          expect(costOf(index)).toBeGreaterThanOrEqual(cost - cent)
          expect(costOf(index) - inferredOf(index)).toBeLessThanOrEqual(cost + cent)
        }
      },
    ),
  )
})

test('a gap in which nothing else was spent costs each machine what the service charged, to a cent', () => {
  const steady = life.filter(({ ranThen, runsNow }) => ranThen === runsNow)
  fc.assert(
    fc.property(
      fc.array(steady, { maxLength: 5 }),
      life,
      fc.integer({ min: 1, max: 80 }),
      (lives, last, hours) => {
        const { shareOf, ledger } = sharesOver([...lives, last], hours, 0)
        for (const [index, cost] of ledger.entries())
          expect(Math.abs(shareOf(index) - cost)).toBeLessThan(cent)
      },
    ),
  )
})

test('what only the credit tells of a cost is known as inferred', () => {
  const one: Life = { running: 1_000_000, disk: 10_000, ranThen: true, runsNow: false, ran: 0.2 }
  const two: Life = { ...one, runsNow: true, ran: 1 }
  const { inferred, shareOf } = sharesOver([one, two], 10, 50_000_000)
  expect([...inferred]).toEqual([['1', 9_900_000]])
  expect([shareOf(0), shareOf(1)]).toEqual([10_000_000, 10_000_000])
})

test('what only prices tell of a cost is inferred, too, as where something was paid in meanwhile', () => {
  const one: Life = { running: 1_000_000, disk: 10_000, ranThen: true, runsNow: true, ran: 1 }
  expect([...sharesOver([one], 10, 0).inferred]).toEqual([])
  const { inferred, shareOf } = sharesOver([one], 10, -50_000_000)
  expect([[...inferred], shareOf(0)]).toEqual([[['1', 9_900_000]], 10_000_000])
})

test('a machine that ran at both ends of a gap has its price, though less left the credit', () => {
  // As another machine's hours were prepaid.
  const one: Life = { running: 1_000_000, disk: 10_000, ranThen: true, runsNow: true, ran: 1 }
  const { inferred, corrected, shareOf } = sharesOver([one, one], 10, -12_000_000)
  expect([shareOf(0), shareOf(1)]).toEqual([4_000_000, 4_000_000])
  // What limits go by; for what nothing confirms they destroy nothing.
  expect([corrected.get('1'), inferred.get('1')]).toEqual([undefined, 6_000_000])
})

test('hours that were prepaid are no price that the credit disproves, and prepaying is no spending', () => {
  const dear = (left: number) => ({ ...runs(1, 30_000_000, start), prepaid: { left, discount: 0.3 } })
  const cheap = runs(2, 60_000, start)
  // Ten dollars were paid ahead meanwhile, and only the cheap one's minutes left the credit.
  const { spent, toppedUp, shares, corrected, inferred } = accrueSpending(
    counted(start, 200_000_000, dear(40_000_000), cheap),
    poll(start + 300, 189_995_000, dear(47_500_000), cheap),
  )
  expect([spent, toppedUp, shares.get('1'), shares.get('2')]).toEqual([2_505_000, 0, 2_500_000, 5000])
  expect([corrected.size, inferred.size]).toEqual([0, 0])
})
