import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  believableEnd,
  believableStart,
  costPerHour,
  countedOn,
  instancePrices,
  prepaidOf,
  ranAtLeast,
  spending,
} from '#core/instances/spending.ts'
import { publicCapabilities } from '#shared/account/capabilities.ts'
import { spentBy } from '#shared/derived.ts'
import { instanceView } from '#test/unit/views.ts'

test('a running instance costs its whole price, a stopped one its disk', () => {
  const price = instancePrices({ dph_total: 0.5, dph_base: 0.45 })
  expect(price).toEqual({ running: 500_000, disk: 50_000 })
  expect(costPerHour('running', price)).toBe(500_000)
  expect(costPerHour('stopping', price)).toBe(500_000)
  for (const state of [
    'provisioning',
    'loading',
    'stopped',
    'outbid',
    'crashed',
    'offline',
    'silent',
  ] as const)
    expect(costPerHour(state, price)).toBe(50_000)
})

test('a prepaid instance costs its discounted price, also below what was agreed, while something is left', () => {
  const hourly = { totalHour: 0.5, discountedTotalPerHour: 0.4 }
  const record = { dph_total: 0.5, dph_base: 0.45, search: hourly, instance: hourly }
  const cost = (credit_balance: number | undefined) =>
    costPerHour(
      'running',
      instancePrices({ ...record, credit_balance, credit_discount: 0.2 }, undefined, { running: 500_000 }),
    )
  expect(cost(12)).toBe(400_000)
  for (const nothing of [0, -1, undefined]) expect(cost(nothing)).toBe(500_000)
  expect(prepaidOf({ credit_balance: 12, credit_discount: 7 })).toEqual({ left: 12_000_000, discount: 0 })
})

test('an instance that boots costs its disk, also where the service says that it costs nothing', () => {
  const price = instancePrices({ dph_total: 0.5, dph_base: 0.45, instance: { totalHour: 0 } })
  expect(costPerHour('loading', price)).toBe(50_000)
})

test('an offline instance costs its disk if billed, unless its record has a cost', () => {
  const price = instancePrices({ dph_total: 0.5, dph_base: 0.45 })
  expect(costPerHour('offline', price)).toBe(50_000)
  expect(costPerHour('offline', price, publicCapabilities)).toBe(0)
  expect(costPerHour('offline', { ...price, now: 70_000 }, publicCapabilities)).toBe(70_000)
  for (const state of ['stopped', 'crashed', 'silent'] as const)
    expect(costPerHour(state, price, publicCapabilities)).toBe(50_000)
})

test('an offline instance with promised reliability costs its GPUs', () => {
  const hourly = { totalHour: 0.41, slaPremiumPerHour: 0.08 }
  const price = instancePrices({ dph_total: 0.49, dph_base: 0.47, search: hourly })
  expect(costPerHour('offline', price, publicCapabilities)).toBe(490_000)
  expect(costPerHour('running', price, publicCapabilities)).toBe(490_000)
  const none = instancePrices({
    dph_total: 0.49,
    dph_base: 0.47,
    search: { ...hourly, slaPremiumPerHour: 0 },
  })
  expect(costPerHour('offline', none, publicCapabilities)).toBe(0)
  expect(costPerHour('running', none, publicCapabilities)).toBe(410_000)
})

test('missing or absurd prices are ignored, so that sums stay valid', () => {
  expect(instancePrices({ dph_base: 0.4 })).toEqual({})
  expect(instancePrices({ dph_total: 0.4 })).toEqual({ running: 400_000 })
  expect(instancePrices({ dph_total: 0.3, dph_base: 0.4 })).toEqual({ running: 300_000, disk: 0 })
  for (const absurd of [-1, 1001, 1e300, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(instancePrices({ dph_total: absurd, dph_base: 0.4 })).toEqual({})
    expect(instancePrices({ dph_total: 0.4, dph_base: absurd })).toEqual({ running: 400_000 })
    expect(instancePrices({ dph_total: 0.4, instance: { totalHour: absurd } })).toEqual({ running: 400_000 })
  }
})

test('a missing cost is the rental’s price, or unknown', () => {
  const agreed = { running: 300_000 }
  expect(costPerHour('running', {})).toBeUndefined()
  expect(costPerHour('running', { now: 0 })).toBeUndefined()
  expect(costPerHour('running', instancePrices({}, undefined, agreed))).toBe(300_000)
  expect(costPerHour('stopped', instancePrices({}, undefined, agreed))).toBeUndefined()
  expect(instancePrices({ dph_total: 0.6 }, undefined, agreed).running).toBe(600_000)
  expect(instancePrices({}, { pricePerHour: 500_000 }, agreed).running).toBe(500_000)
})

test('a price of nothing is that of the last record', () => {
  expect(instancePrices({ dph_total: 0 }, { pricePerHour: 500_000 }).running).toBe(500_000)
  expect(instancePrices({ dph_total: 0 }).running).toBe(0)
})

test('a rented instance costs at least what was agreed, whatever its record says', () => {
  const dollars = fc.option(
    fc.oneof(
      fc.double({ min: 0, max: 2 }),
      fc.constantFrom(0, -1, 0.0001, 1e300, Number.NaN, Number.POSITIVE_INFINITY),
    ),
    { nil: undefined },
  )
  const hourly = fc.record(
    { totalHour: dollars, diskHour: dollars, slaPremiumPerHour: dollars },
    { requiredKeys: [] },
  )
  const record = fc.record(
    {
      dph_total: dollars,
      dph_base: dollars,
      storage_total_cost: dollars,
      storage_cost: dollars,
      disk_space: dollars,
      search: hourly,
      instance: hourly,
    },
    { requiredKeys: [] },
  )
  const agreed = { running: 300_000, disk: 20_000 }
  const before = fc.option(fc.constant({ pricePerHour: 1, diskPricePerHour: 1 }), { nil: undefined })
  fc.assert(
    fc.property(record, before, (told, last) => {
      const price = instancePrices(told as Parameters<typeof instancePrices>[0], last, agreed)
      for (const capabilities of [undefined, publicCapabilities]) {
        expect(costPerHour('running', price, capabilities)).toBeGreaterThanOrEqual(300_000)
        expect(costPerHour('frozen', price, capabilities)).toBeGreaterThanOrEqual(300_000)
        for (const state of ['stopped', 'outbid', 'loading', 'crashed', 'ended'] as const)
          expect(costPerHour(state, price, capabilities)).toBeGreaterThanOrEqual(20_000)
      }
    }),
  )
})

test('a price missing from an answer keeps its last value', () => {
  expect(instancePrices({}, { pricePerHour: 500_000, diskPricePerHour: 50_000 })).toEqual({
    running: 500_000,
    disk: 50_000,
  })
  expect(instancePrices({ dph_total: 0.6 }, { pricePerHour: 500_000 })).toEqual({ running: 600_000 })
})

test('the current cost that the service reports takes precedence', () => {
  const told = instancePrices({
    dph_total: 0.5,
    dph_base: 0.45,
    storage_total_cost: 0.05,
    search: { totalHour: 0.48, diskHour: 0.05 },
    instance: { totalHour: 0.07, diskHour: 0.07 },
  })
  expect(told).toEqual({ running: 480_000, disk: 70_000, now: 70_000 })
  expect(costPerHour('stopped', told)).toBe(70_000)
  expect(costPerHour('running', { ...told, now: 470_000 })).toBe(470_000)
  expect(costPerHour('running', { ...told, now: 0 })).toBe(480_000)
})

test('a free disk on an offline host still has a price, or an unknown one', () => {
  const gone = { instance: { totalHour: 0, diskHour: 0 } }
  expect(instancePrices({ ...gone, storage_total_cost: 0.05 })).toEqual({ disk: 50_000, now: 0 })
  expect(instancePrices({ ...gone, dph_total: 0.5, dph_base: 0.45 })).toMatchObject({ disk: 50_000, now: 0 })
  expect(instancePrices(gone, { diskPricePerHour: 50_000 })).toEqual({ disk: 50_000, now: 0 })
  expect(instancePrices(gone)).toEqual({ now: 0 })
  expect(instancePrices({ ...gone, storage_total_cost: 0 })).toEqual({ disk: 0, now: 0 })
})

test('the price is base plus disk; an unpriced disk costs its GB rate over 720 hours', () => {
  const disk = { storage_cost: 0.14933, disk_space: 10 }
  expect(instancePrices({ dph_total: 0.9, dph_base: 0.45, storage_total_cost: 0.02 })).toEqual({
    running: 470_000,
    disk: 20_000,
  })
  expect(instancePrices({ dph_base: 0.45, ...disk })).toEqual({ running: 452_074, disk: 2074 })
  const stopped = instancePrices({ dph_total: 0.5, ...disk })
  expect(costPerHour('stopped', stopped)).toBe(2074)
})

test('spending sums up from creation, and each new price starts a new stretch', () => {
  const first = spending(undefined, 3_600_000, 1000, 1100)
  expect(first).toEqual({ micros: 100_000, at: 1100, perHour: 3_600_000 })
  // Of an older one, what nobody here saw is an estimate, and stays one.
  const old = spending(undefined, 3_600_000, 1000, 2000)
  expect(spending(old, 36_000, 1000, 2100)).toMatchObject({
    micros: 1_100_000,
    seenFrom: 2000,
    unseen: 1_000_000,
  })
  // Where the account was counted already, the days have it.
  expect(spending(undefined, 3_600_000, 1000, 2000, { isCounted: true }).unseen).toBeUndefined()
  expect(spending(first, 3_600_000, 1000, 1200)).toBe(first)
  const stopped = spending(first, 36_000, 1000, 1200)
  expect(stopped).toEqual({ micros: 200_000, at: 1200, perHour: 36_000 })
})

test('an accepted price counts from its moment on, also where nobody polled then', () => {
  const before = { micros: 0, at: 1000, perHour: 3_600_000, rise: { at: 1100, perHour: 36_000_000 } }
  expect(spentBy({ ...instanceView(), spent: before }, 1200)).toBe(1_100_000)
  expect(spending(before, 36_000_000, 0, 1200)).toEqual({ micros: 1_100_000, at: 1200, perHour: 36_000_000 })
  // The price of a moment before then, as with a discount, is no reason to forget it.
  expect(spending(before, 1_800_000, 0, 1050).rise).toEqual(before.rise)
})

test('however an account’s time is set, what an instance has cost never shrinks and goes on with this computer’s', () => {
  const correction = fc.option(fc.integer({ min: -400_000, max: 400_000 }), { nil: 0 })
  const step = fc.tuple(fc.integer({ min: 1, max: 4000 }), correction, fc.constantFrom(36_000, 3_600_000))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), steps => {
      let at = 1_900_000_000
      let view = instanceView({ spent: spending(undefined, 3_600_000, at, at) })
      for (const [seconds, set, perHour] of steps) {
        const [before, price] = [spentBy(view, at), view.spent.perHour]
        const expected = at + seconds
        at = expected + set
        view = countedOn({ 1: view }, expected, at)[0] ?? view
        view = { ...view, spent: spending(view.spent, perHour, undefined, at) }
        expect(view.spent.at).toBeLessThanOrEqual(at)
        const least = ((seconds + Math.min(0, Math.max(-5, set))) * price) / 3600
        expect(spentBy(view, at) - before).toBeGreaterThanOrEqual(Math.floor(least) - 1)
      }
    }),
  )
})

test('an instance that booted unseen is charged in full, except for the boot', () => {
  const booting = spending(undefined, 3600, 1000, 1000)
  const ran = ranAtLeast(1000, 11_000)
  expect(ran).toBe(9700)
  expect(spending(booting, 360_000, 1000, 11_000, { ran })).toEqual({
    micros: 300 + 970_000,
    at: 11_000,
    perHour: 360_000,
  })
})

test('spending never shrinks and stays a whole number, whatever the times', () => {
  const price = fc.integer({ min: 0, max: 32_000_000 })
  const step = fc.record({ price, at: fc.integer({ min: -1e6, max: 2e9 }), ran: fc.nat(1e6) })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.option(fc.integer()), (steps, start) => {
      let spent = undefined as ReturnType<typeof spending> | undefined
      for (const { price, at, ran } of steps) {
        const next = spending(spent, price, start ?? undefined, at, { ran })
        expect(Number.isSafeInteger(next.micros)).toBe(true)
        expect(next.micros).toBeGreaterThanOrEqual(spent?.micros ?? 0)
        spent = next
      }
    }),
  )
})

const now = 1_800_000_000

test('an instance was not created in the future, nor before any contract', () => {
  expect(believableStart(now - 86_400, now)).toBe(now - 86_400)
  expect(believableStart(now + 60, now)).toBe(now + 60)
  for (const absurd of [undefined, now + 3600, now - 10 * 366 * 86_400])
    expect(believableStart(absurd, now)).toBeUndefined()
})

test('an instance that Berth rented was not created before', () => {
  expect(believableStart(now - 90, now, now - 100)).toBe(now - 90)
  expect(believableStart(now - 160, now, now - 100)).toBe(now - 160)
  for (const absurd of [undefined, now + 3600, now - 7200])
    expect(believableStart(absurd, now, now - 100)).toBe(now - 100)
})

test('a contract does not end before it began', () => {
  expect(believableEnd(now + 1, now)).toBe(now + 1)
  expect(believableEnd(now - 1, now)).toBeUndefined()
  expect(believableEnd(now, undefined)).toBe(now)
})
