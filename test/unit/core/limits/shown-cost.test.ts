import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { limitOfRental, snoozed, switched } from '#core/limits/changes.ts'
import { dueOf } from '#core/limits/decide.ts'
import { whenFirst } from '#core/limits/limit-due.ts'
import { StoredLimit } from '#core/limits/model.ts'
import { limitsOfAttempt, type Rental } from '#core/renting/rental.ts'
import { withMost } from '#renderer/features/market/cost.ts'
import { Limit } from '#shared/automation/limit.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { someAttempt, someRental } from '#test/unit/core/renting/some-rental.ts'
import { instanceView } from '#test/unit/views.ts'
import { limitFacts } from './stored-limit.ts'

const dollar = 1_000_000
const hour = 3600
const place = { id: 'g0000000000000001', instance: 7, rental: 'r0000000000000001' }
const hours = (count: number, most?: Limit['most']): Limit => ({
  when: { kind: 'duration', seconds: count * hour },
  action: 'stop',
  asleep: false,
  ...(most && { most }),
})
const seen = (at: number, perHour: number, micros: number, traffic?: number): InstanceView =>
  instanceView({
    id: 7,
    costPerHour: perHour,
    pricePerHour: perHour,
    spent: { micros, at, perHour },
    ...(traffic !== undefined && { traffic: { spent: traffic } }),
  })
const due = (limit: StoredLimit, view: InstanceView) =>
  dueOf(limit, limitFacts(view.spent.at, { instances: { 7: view }, spendPerHour: view.costPerHour }))

test('whatever prices a rental has after another, its hours end before it costs more than was shown', () => {
  const price = fc.integer({ min: 1000, max: 20 * dollar })
  const step = fc.record({ price, seconds: fc.integer({ min: 1, max: 4 * hour }), traffic: fc.nat(dollar) })
  fc.assert(
    fc.property(
      price,
      fc.integer({ min: 1, max: 48 }),
      fc.array(step, { maxLength: 8 }),
      (agreed, count, steps) => {
        const shown = { cost: { perHour: agreed, diskPerHour: 0 }, traffic: 20_000, count: 1 }
        const [chosen] = withMost([hours(count)], shown)
        const limit = limitOfRental(chosen ?? hours(count), place, 0)
        const most = Math.ceil((agreed * count + 20_000) / 10_000) * 10_000
        let [at, micros] = [0, 0]
        for (const next of [...steps, { price: agreed, seconds: 1e9, traffic: 0 }]) {
          const view = seen(at, next.price, micros)
          const ends = Math.max(at, due(limit, view) ?? Number.POSITIVE_INFINITY)
          const until = Math.min(ends, at + next.seconds)
          // Rounded to a time that is at most a minute later.
          const cost = micros + (next.price * (until - at)) / hour
          expect(cost).toBeLessThanOrEqual(Math.max(micros, most) + next.price / 60 + 1)
          if (until === ends) return
          ;[at, micros] = [until, Math.ceil(cost) + next.traffic]
          if (micros > most) {
            expect(due(limit, seen(at, next.price, micros))).toBeLessThanOrEqual(at)
            return
          }
        }
      },
    ),
  )
})

test('whatever is shown can be sent and stored', () => {
  const price = fc.integer({ min: 0, max: 1000 * dollar })
  const once = fc.integer({ min: 0, max: 1e9 * dollar })
  const span = fc.integer({ min: 1, max: 366 * 24 })
  fc.assert(
    fc.property(price, once, span, fc.integer({ min: 1, max: 16 }), (perHour, traffic, count, machines) => {
      const shown = { cost: { perHour, diskPerHour: 0 }, traffic, count: machines }
      const rental = someRental()
      const request = { ...rental.request, limits: [hours(count)] }
      const attempt = {
        ...someAttempt({ offer: { id: 1, pricePerHour: perHour } }),
        rental: { ...rental, request },
      }
      for (const limit of [...withMost([hours(count)], shown), ...limitsOfAttempt(attempt)]) {
        expect(v.safeParse(Limit, limit).success).toBe(true)
        expect(v.safeParse(StoredLimit, limitOfRental(limit, place, 0)).success).toBe(true)
      }
    }),
  )
})

test('at the price that was agreed to, a limit on the time acts by its time alone', () => {
  const limit = limitOfRental(hours(3, { dollars: 3 }), place, 0)
  expect(due(limit, seen(0, dollar, 0))).toBe(3 * hour)
  expect(due(limit, seen(hour, dollar, dollar))).toBe(3 * hour)
  // What was created some seconds before its limit was set.
  expect(due(limit, seen(hour, dollar, dollar + 10_000))).toBe(3 * hour)
  expect(whenFirst(limit, seen(hour, dollar, dollar))).toBe(limit.when)
  expect(whenFirst(limit, seen(hour, 2 * dollar, dollar))).toEqual({ kind: 'cost', dollars: 3 })
  expect(due(limit, seen(hour, 2 * dollar, dollar))).toBe(2 * hour)
})

test('traffic that was shown to cost extra counts on top, and traffic that was counted in does not', () => {
  const view = seen(hour, dollar, 2 * dollar, dollar)
  expect(due(limitOfRental(hours(3, { dollars: 3 }), place, 0), view)).toBe(3 * hour)
  expect(due(limitOfRental(hours(3, { dollars: 3, traffic: 0.5 }), place, 0), view)).toBe(2.5 * hour)
})

test('an extension raises the sum by what the time costs now, and holds it', () => {
  const limit = limitOfRental(hours(3, { dollars: 3 }), place, 0)
  const view = seen(hour, 2 * dollar, dollar)
  const longer = snoozed(limit, 60, due(limit, view), hour, { 7: view })
  expect(longer.most).toEqual({ dollars: 5 })
  expect(due(longer, view)).toBe(3 * hour)
  expect(due(longer, seen(hour, 4 * dollar, dollar))).toBe(2 * hour)
})

test('a limit that is switched on again begins without the sum', () => {
  const limit = switched(switched(limitOfRental(hours(3, { dollars: 3 }), place, 0), false, 10), true, 20)
  expect(limit.most).toBeUndefined()
})

test('a rental without a shown sum holds its hours at the agreed price or the highest bid, and a run its plan', () => {
  const attempt = someAttempt({ offer: { id: 1, pricePerHour: dollar } })
  const mostOf = (change: Partial<Rental>, request: Partial<Rental['request']> = {}) => {
    const rental = someRental(change)
    const wanted = { ...rental.request, limits: [hours(3)], ...request }
    return limitsOfAttempt({ ...attempt, rental: { ...rental, request: wanted } })[0]?.most
  }
  expect(mostOf({})).toEqual({ dollars: 3 })
  expect(mostOf({ why: 'run' })).toBeUndefined()
  const recovery = { kind: 'raise', ceiling: 2, every: 600 } as const
  expect(mostOf({}, { bid: 1, recovery })).toEqual({ dollars: 6 })
  expect(mostOf({}, { limits: [hours(3, { dollars: 7, traffic: 1 })] })).toEqual({ dollars: 7, traffic: 1 })
})
