import { expect, test } from 'vitest'
import {
  instanceCosts,
  monthFigures,
  rowsOf,
  spenders,
  spentIn,
  stacks,
  usualDay,
} from '#renderer/features/spending.ts'
import type { MoneyHistory } from '#shared/spending/history.ts'
import { instanceView } from '#test/unit/views.ts'

const now = new Date(2026, 10, 21, 14, 30).getTime() / 1000
const day = (name: string, instances: Record<string, number>, spent: number) => ({
  day: name,
  spent,
  toppedUp: 0,
  models: Object.fromEntries(7 in instances ? [['RTX 4090', instances[7]]] : []),
  instances,
})
const history: MoneyHistory = {
  samples: [],
  days: [
    day('2025-12-31', { 7: 2_000_000 }, 2_000_000),
    day('2026-10-22', { 7: 1 }, 1),
    day('2026-11-02', { 7: 4_000_000 }, 4_000_000),
    day('2026-11-21', { 7: 1_000_000, 8: 300_000 }, 1_500_000),
  ],
  names: { 7: { gpu: 'RTX 4090', label: 'train' }, 8: { gpu: 'A100' } },
}

test('the month is the calendar’s, with the days after today still ahead', () => {
  const { bars } = stacks(history, 'month', now, 'model')
  expect(bars).toHaveLength(30)
  expect(bars.at(1)).toMatchObject({ title: 'Mon 2 Nov', spent: 4_000_000 })
  expect(bars.flatMap(({ label }) => label || [])).toEqual(['1', '7', '14', '21', '28'])
  expect(bars.findIndex(({ ahead }) => ahead)).toBe(21)
})

test('the quarter is 90 days up to today, the year twelve months up to this one', () => {
  const days = stacks(history, 'quarter', now, 'model').bars
  expect([days.length, days.at(-1)?.spent, days.at(-31)?.spent]).toEqual([90, 1_500_000, 1])
  const year = stacks(history, 'year', now, 'model').bars
  expect(year.map(({ label }) => label).join(' ')).toBe('Dec Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov')
  expect([year.at(0)?.spent, year.at(10)?.spent, year.at(11)?.spent]).toEqual([2_000_000, 1, 5_500_000])
})

test('the total is that of the bars, also where the shares of a day add up to more', () => {
  const days = [
    day('2026-11-02', { 7: 4_000_000 }, 4_000_000),
    day('2026-11-21', { 7: 1_030_000 }, 1_000_000),
  ]
  const total = spentIn({ days: [day('2026-10-22', { 7: 9 }, 9), ...days] }, 'month', now)
  expect(total).toEqual({ spent: 5_000_000, today: 1_000_000 })
  const { bars } = stacks({ ...history, days }, 'month', now, 'model')
  expect(bars.reduce((sum, { spent }) => sum + spent, 0)).toBe(total.spent)
})

test('a usual day is the mean of the week before today, as far as its days are known', () => {
  const known = (...days: [string, number][]) =>
    usualDay({ days: days.map(([name, spent]) => day(name, {}, spent)) }, now)
  expect(known(['2026-11-20', 2_900_000], ['2026-11-21', 9])).toEqual({ mean: 2_900_000, over: 'yesterday' })
  expect(known(['2026-11-18', 3_000_000], ['2026-11-20', 3_000_000])).toEqual({
    mean: 2_000_000,
    over: 'a day since 18 Nov',
  })
  expect(known(['2026-11-01', 5], ['2026-11-14', 7_000_000])).toEqual({
    mean: 1_000_000,
    over: 'a day last week',
  })
  expect(known(['2026-11-21', 9])).toBeUndefined()
})

test('rows by instance add up to the total, with a row for other costs', () => {
  const rows = spenders(history, 'month', now, 'instance')
  expect(rows.map(({ name, spent, today }) => [name, spent, today])).toEqual([
    ['train #7', 5_000_000, 1_000_000],
    ['A100 #8', 300_000, 300_000],
    ['Other', 200_000, 200_000],
  ])
  expect(rows.reduce((total, { share }) => total + share, 0)).toBeCloseTo(1)
})

test('“Other” comes last, whatever its amount', () => {
  const days = [{ ...day('2026-11-21', { 7: 1000, 8: 300 }, 9000), charged: { 7: { other: 800, gpu: 500 } } }]
  const names = (by: 'model' | 'instance' | 'kind') =>
    spenders({ ...history, days }, 'month', now, by).map(({ name }) => name)
  expect(names('model')).toEqual(['RTX 4090', 'Other'])
  expect(names('instance')).toEqual(['train #7', 'A100 #8', 'Other'])
  expect(names('kind').slice(0, 2)).toEqual(['GPU', 'Other'])
  expect(stacks({ ...history, days }, 'month', now, 'instance').bars.at(20)?.parts).toEqual([1000, 300, 7700])
})

test('by project, its instances are summed, and those without one are “Other”', () => {
  const names = { 7: { project: 'digits' }, 8: {}, 9: { project: 'digits' } }
  const days = [day('2026-11-20', { 7: 1000, 8: 200 }, 1200), day('2026-11-21', { 9: 30 }, 30)]
  const rows = spenders({ ...history, days, names }, 'month', now, 'project')
  expect(rows.map(({ name, spent, today }) => [name, spent, today])).toEqual([
    ['digits', 1030, 30],
    ['Other', 200, 0],
  ])
  const { bars } = stacks({ ...history, days, names }, 'month', now, 'project')
  expect(bars.slice(19, 21).map(({ parts }) => parts)).toEqual([
    [1000, 200],
    [30, 0],
  ])
})

test('the parts of a bar add up to it, other costs included', () => {
  const { names, bars } = stacks(history, 'month', now, 'instance')
  expect(names).toEqual(['train #7', 'A100 #8', 'Other'])
  expect(bars.at(1)?.parts).toEqual([4_000_000, 0, 0])
  expect(bars.at(20)?.parts).toEqual([1_000_000, 300_000, 200_000])
})

test('the five most expensive instances have their own part, the others share one', () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, id) => [id + 1, (id + 1) * 100]))
  const crowd = { ...history, days: [day('2026-11-20', many, 5000), day('2026-11-21', { 1: 7 }, 7)] }
  const { names, series, bars } = stacks(crowd, 'month', now, 'instance')
  expect(names).toEqual(['Instance #9', 'A100 #8', 'train #7', 'Instance #6', 'Instance #5', '5 others'])
  expect(series).toEqual([1, 2, 3, 4, 5, 6])
  expect(bars.at(19)?.parts).toEqual([900, 800, 700, 600, 500, 1500])
  expect(bars.at(20)?.parts).toEqual([0, 0, 0, 0, 0, 7])
})

test('each series has its own color, and “Other” always the last one', () => {
  expect(stacks(history, 'month', now, 'instance')).toMatchObject({
    names: ['train #7', 'A100 #8', 'Other'],
    series: [1, 2, 6],
  })
})

test('a day is explained by its instances, the most expensive first, with hours and kinds where known', () => {
  const counted = {
    ...day('2026-11-20', { 7: 300_000, 8: 900_000 }, 1_250_000),
    uses: { 7: { gpu: 250_000, disk: 50_000, traffic: 0, ran: 1800 }, 8: { gpu: 900_000, ran: 7200 } },
  }
  const charged = {
    ...day('2026-11-21', { 7: 500_000 }, 500_000),
    uses: { 7: { gpu: 460_000, disk: 40_000, ran: 3600 } },
    charged: { 7: { gpu: 430_000, traffic: 70_000 } },
  }
  expect(instanceCosts({ days: [counted], names: history.names })).toEqual([
    { id: '8', name: 'A100 #8', spent: 900_000, gpu: 900_000, ran: 7200 },
    { id: '7', name: 'train #7', spent: 300_000, gpu: 250_000, disk: 50_000, traffic: 0, ran: 1800 },
    { name: 'Other', spent: 50_000 },
  ])
  // Of a day that the service charged, the kinds are the service's.
  expect(instanceCosts({ days: [counted, charged], names: history.names })[1]).toEqual({
    id: '7',
    name: 'train #7',
    spent: 800_000,
    gpu: 680_000,
    disk: 50_000,
    traffic: 70_000,
    ran: 5400,
  })
  expect(instanceCosts({ days: [day('2026-11-21', { 7: 5 }, 5)], names: {} })).toEqual([
    { id: '7', name: 'Instance #7', spent: 5 },
  ])
})

test('kinds come from the service’s charges, else from Berth’s own count', () => {
  const uses = { 7: { gpu: 300, disk: 100, ran: 60 } }
  const days = [{ ...day('2026-11-21', { 7: 400 }, 400), uses }]
  const rows = (more: object) =>
    spenders({ ...history, days: days.map(one => ({ ...one, ...more })) }, 'month', now, 'kind')
  expect(rows({}).map(({ name, spent }) => [name, spent])).toEqual([
    ['GPU', 300],
    ['Disk', 100],
  ])
  expect(rows({ charged: { 7: { gpu: 400 } } }).map(({ name }) => name)).toEqual(['GPU'])
})

test('the table lists days with costs, newest first, and marks estimates', () => {
  const days = history.days.map(one =>
    one.day === '2026-11-02' ? { ...one, estimated: true as const } : one,
  )
  const rows = rowsOf(stacks({ ...history, days }, 'month', now, 'model').bars)
  expect(rows.map(({ spent, estimated }) => [spent, estimated])).toEqual([
    [1_500_000, undefined],
    [4_000_000, true],
  ])
})

test('the forecast is the mean of the last 14 days times the remaining days', () => {
  const noon = new Date(2026, 10, 21, 12).getTime() / 1000
  const daily = Array.from({ length: 30 }, (_, at) => {
    const date = new Date(2026, 9, 23 + at, 12)
    return day(date.toISOString().slice(0, 10), {}, at < 16 ? 9_000_000 : at < 29 ? 2_000_000 : 1_000_000)
  })
  expect(monthFigures({ days: daily }, noon)).toEqual({
    now: { month: 'November', spent: 7 * 9_000_000 + 13 * 2_000_000 + 1_000_000 },
    before: { month: 'October', spent: 9 * 9_000_000, since: '23 Oct' },
    end: '30 November',
    forecast: { perDay: 2_000_000, byEnd: 90_000_000 + 9.5 * 2_000_000 },
  })
})

test('the forecast counts days without spending, but not the partly seen first day', () => {
  const noon = new Date(2026, 10, 21, 12).getTime() / 1000
  const days = [day('2026-11-18', {}, 6_000_000), day('2026-11-21', {}, 5_000_000)]
  expect(monthFigures({ days }, noon)).toMatchObject({
    now: { spent: 11_000_000, since: '18 Nov' },
    forecast: { perDay: 2_000_000 },
  })
  const begun = [day('2026-11-20', {}, 1_000_000), day('2026-11-21', {}, 5_000_000)]
  expect(monthFigures({ days: begun }, noon).forecast).toBeUndefined()
  expect(monthFigures({ days: [] }, now)).toEqual({
    now: { month: 'November', spent: 0 },
    end: '30 November',
  })
})

test('on its first day a month says since when it counts, and what instances had cost in it before', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime() / 1000
  const spent = { micros: 30_000_000, at: at(2, 0), perHour: 0, seenFrom: at(2, 0), unseen: 30_000_000 }
  // Two of its three days were in October.
  const instances = { 7: instanceView({ startedAt: at(-1, 0), spent }) }
  const days = [day('2026-11-02', { 7: 1_000_000 }, 1_000_000)]
  expect(monthFigures({ days }, at(2, 14), instances).now).toEqual({
    month: 'November',
    spent: 1_000_000,
    since: '00:00, before ≈ $10.00',
  })
  // The service's own list has earlier days: what is left is from today's midnight on.
  const late = { ...spent, seenFrom: at(2, 12), unseen: 84_000_000 }
  const listed = [
    { ...day('2026-11-01', { 7: 5 }, 24_000_000), charged: { 7: { gpu: 24_000_000 } } },
    ...days,
  ]
  expect(
    monthFigures({ days: listed }, at(2, 14), { 7: instanceView({ startedAt: at(-1, 0), spent: late }) }).now,
  ).toEqual({ month: 'November', spent: 25_000_000, since: '12:00, before ≈ $12.00' })
  expect(monthFigures({ days }, at(3, 14), instances).now.since).toBe('2 Nov')
  expect(monthFigures({ days }, at(2, 14), { 7: instanceView({ startedAt: at(2, 0) }) }).now.since).toBe(
    '2 Nov',
  )
})
