import { expect, test } from 'vitest'
import type { LimitView } from '#shared/automation/limit.ts'
import { creditLasts, spendOnceReady } from '#shared/derived.ts'
import { forecast, limitedForecast } from '#shared/spending/forecast.ts'
import { accountView, byId, instanceView, limitView } from '../views.ts'

const runs = (id: number, costPerHour: number, diskPricePerHour: number) =>
  instanceView({ id, costPerHour, diskPricePerHour })

test('stopping an instance saves its GPU price while its disk keeps costing', () => {
  const account = accountView({ credit: 10_000_000 }, runs(1, 400_000, 20_000), runs(2, 600_000, 100_000))
  const course = forecast(account, 1000)
  expect(course?.runsOutAt).toBe(1000 + 10 * 3600)
  expect(course?.savings).toMatchObject([
    { instance: 2, saves: 500_000, wins: 36_000 },
    { instance: 1, saves: 380_000 },
  ])
  expect(course?.savings[1]?.wins).toBeCloseTo(22_065, 0)
})

test('stopping the only instance, without a disk, ends all spending', () => {
  const [gain] = forecast(accountView({}, runs(1, 400_000, 0)), 0)?.savings ?? []
  expect(gain).toEqual({ instance: 1, by: 'stop', saves: 400_000 })
})

test('credit that was read an hour ago lasts an hour less', () => {
  const account = accountView({ credit: 10_000_000, creditAt: 1000 }, runs(1, 1_000_000, 0))
  expect(forecast(account, 1000 + 3600)?.runsOutAt).toBe(1000 + 10 * 3600)
})

test('destroying a stopped instance saves its disk; without spending there is no forecast', () => {
  const stopped = instanceView({ id: 3, state: 'stopped', costPerHour: 20_000, diskPricePerHour: 20_000 })
  const account = accountView({ credit: 10_000_000 }, stopped, runs(1, 400_000, 20_000))
  expect(forecast(account, 0)?.savings).toMatchObject([
    { instance: 1, by: 'stop', saves: 380_000 },
    { instance: 3, by: 'destroy', saves: 20_000 },
  ])
  expect(forecast(accountView(), 0)).toBeUndefined()
})

test('measured traffic of running instances shortens the credit, and stopping saves it', () => {
  const busy = { ...runs(1, 400_000, 20_000), traffic: { perHour: 100_000 } }
  const halted = instanceView({ id: 2, state: 'stopped', costPerHour: 0, traffic: { perHour: 900_000 } })
  const account = accountView({ credit: 10_000_000 }, busy, halted)
  const course = forecast(account, 1000)
  expect(course).toMatchObject({ perHour: 500_000, traffic: 100_000, runsOutAt: 1000 + 20 * 3600 })
  expect(course?.savings).toMatchObject([{ instance: 1, saves: 480_000 }])
  expect(creditLasts(account)).toBe(20 * 3600)
})

test('expected traffic counts until some is measured, and only while running', () => {
  const expecting = { ...runs(1, 400_000, 20_000), traffic: { perHour: 0, expectedPerHour: 100_000 } }
  expect(forecast(accountView({}, expecting), 0)).toMatchObject({ perHour: 500_000, traffic: 100_000 })
  const measured = { ...expecting, traffic: { perHour: 7, expectedPerHour: 100_000 } }
  expect(forecast(accountView({}, measured), 0)).toMatchObject({ traffic: 7 })
  const booting = { ...expecting, state: 'loading' as const }
  expect(forecast(accountView({}, booting), 0)).toMatchObject({ traffic: 0 })
})

test('a booting instance counts at its full price, and stopping it saves its GPUs', () => {
  const running = instanceView({ id: 1, costPerHour: 500_000, diskPricePerHour: 0 })
  const booting = instanceView({
    id: 2,
    state: 'loading',
    costPerHour: 3000,
    diskPricePerHour: 3000,
    pricePerHour: 1_500_000,
  })
  const account = accountView({ credit: 10_000_000 }, running, booting)
  const course = forecast(account, 0)
  expect(course).toMatchObject({ perHour: 2_000_000, runsOutAt: 5 * 3600 })
  expect(course?.runsOutAt).toBe(creditLasts(account, spendOnceReady(account)))
  expect(course?.savings).toMatchObject([
    { instance: 2, by: 'stop', saves: 1_497_000 },
    { instance: 1, by: 'stop', saves: 500_000 },
  ])
})

test('limits that act before the credit runs out extend it; later ones do not count', () => {
  const limit = (id: string, instance: number, dueAt: number, action: LimitView['action'] = 'stop') =>
    limitView({ id, instance, dueAt, action, when: { kind: 'time', at: dueAt } })
  const both = [runs(1, 500_000, 0), runs(2, 500_000, 100_000)] as const
  const limited = (...limits: LimitView[]) =>
    limitedForecast(accountView({ credit: 10_000_000, limits: byId(limits) }, ...both), 0)
  expect(limited()).toBeUndefined()
  expect(limited(limit('a', 1, 11 * 3600))).toBeUndefined()
  // Two hours at $1, then $8 at $0.50.
  expect(limited(limit('a', 1, 2 * 3600))).toEqual({
    runsOutAt: 18 * 3600,
    ends: [{ instance: 1, at: 7200 }],
  })
  expect(limited(limit('a', 1, 7200), limit('b', 2, 7200))).toEqual({
    runsOutAt: (2 + 80) * 3600,
    ends: [
      { instance: 1, at: 7200 },
      { instance: 2, at: 7200 },
    ],
  })
  expect(limited(limit('a', 1, 7200), limit('b', 2, 7200, 'destroy'))?.runsOutAt).toBeUndefined()
})
