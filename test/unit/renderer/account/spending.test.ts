import { expect, test, vi } from 'vitest'
import type { MoneyHistory } from '../../../../electron/contract/spending/history.ts'
import { bars, rowsOf, spenders, stacks } from '../../../../renderer/screens/account/spending/spending.ts'

const now = new Date(2026, 10, 21, 14, 30).getTime() / 1000
const day = (name: string, instances: Record<string, number>, spent: number) => ({
  day: name,
  spent,
  toppedUp: 0,
  models: instances['7'] === undefined ? {} : { 'RTX 4090': instances['7'] },
  instances,
})
const history: MoneyHistory = {
  samples: [
    { at: new Date(2026, 10, 21, 9, 5).getTime() / 1000, spent: 1_000_000 },
    { at: new Date(2026, 10, 21, 10, 0).getTime() / 1000, spent: 500_000 },
    { at: new Date(2026, 10, 20, 10, 0).getTime() / 1000, spent: 9_000_000 },
  ],
  days: [
    day('2025-12-31', { 7: 2_000_000 }, 2_000_000),
    day('2026-10-22', { 7: 1 }, 1),
    day('2026-10-23', { 7: 4_000_000 }, 4_000_000),
    day('2026-11-21', { 7: 1_000_000, 8: 300_000 }, 1_500_000),
  ],
  names: { 7: { gpu: 'RTX 4090', label: 'train' }, 8: { gpu: 'A100' } },
}

test('today has a bar for each hour so far, and only what was spent today', () => {
  const today = bars(history, 'today', now)
  expect(today).toHaveLength(15)
  expect(today.filter(({ spent }) => spent > 0)).toEqual([
    { label: '9:00', title: '9:00 to 10:00', spent: 1_500_000 },
  ])
})

test('a month is thirty days and ends today', () => {
  const month = bars(history, 'month', now)
  expect(month).toHaveLength(30)
  expect(month.at(0)).toMatchObject({ label: '23 Oct', spent: 4_000_000 })
  expect(month.at(-1)).toMatchObject({ label: '21 Nov', spent: 1_500_000 })
})

test('a year is twelve months and ends with this one', () => {
  const year = bars(history, 'year', now)
  expect(year.map(({ label }) => label).join(' ')).toBe('Dec Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov')
  expect([year.at(0)?.spent, year.at(10)?.spent, year.at(11)?.spent]).toEqual([
    2_000_000, 4_000_001, 1_500_000,
  ])
})

test('by instance, the rows add up to the days, with what belongs to none of them', () => {
  expect(spenders(history, 'month', now, 'instance').map(({ name, spent }) => [name, spent])).toEqual([
    ['train #7', 5_000_000],
    ['A100 #8', 300_000],
    ['Not of one instance', 200_000],
  ])
})

test('bars by instance are of parts that add up to them, what belongs to none among them', () => {
  const { names, bars: month } = stacks(history, 'month', now, 'instance')
  expect(names).toEqual(['train #7', 'A100 #8', 'Not of one instance'])
  expect(month.map(({ spent }) => spent)).toEqual(bars(history, 'month', now).map(({ spent }) => spent))
  expect(month.at(0)?.parts).toEqual([4_000_000, 0, 0])
  expect(month.at(-1)?.parts).toEqual([1_000_000, 300_000, 200_000])
  expect(stacks(history, 'today', now, 'model')).toEqual({
    names: ['RTX 4090', 'Not of one GPU'],
    bars: [{ label: 'Today', title: 'Sat 21 Nov', spent: 1_500_000, parts: [1_000_000, 500_000] }],
  })
})

test('of many instances the five dearest have parts of their own, and the others one', () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, id) => [id + 1, (id + 1) * 100]))
  const crowd = { ...history, days: [day('2026-11-20', many, 5000), day('2026-11-21', { 1: 7 }, 7)] }
  const { names, bars: month } = stacks(crowd, 'month', now, 'instance')
  expect(names).toEqual(['Instance #9', 'A100 #8', 'train #7', 'Instance #6', 'Instance #5', '5 others'])
  expect(month.at(-2)?.parts).toEqual([900, 800, 700, 600, 500, 1500])
  expect(month.at(-1)?.parts).toEqual([0, 0, 0, 0, 0, 7])
})

test('by time, only what cost something is a row, the newest first', () => {
  const rows = rowsOf(bars(history, 'month', now))
  expect(rows.map(({ spent }) => spent)).toEqual([1_500_000, 4_000_000])
  expect(rows.reduce((total, { share }) => total + share, 0)).toBeCloseTo(1)
})

test('a day that is only estimated is said to be, and so is its month', () => {
  const days = history.days.map(one =>
    one.day === '2026-10-23' ? { ...one, estimated: true as const } : one,
  )
  const rows = rowsOf(bars({ ...history, days }, 'month', now))
  expect(rows.map(({ estimated }) => estimated)).toEqual([undefined, true])
  const months = bars({ ...history, days }, 'year', now).filter(({ estimated }) => estimated)
  expect(months.map(({ label }) => label)).toEqual(['Oct'])
})

test('on a day of twenty-five hours the hour that comes twice is one bar, and none is lost', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  const at = (time: string) => Date.parse(time) / 1000
  const hourly = Array.from({ length: 25 }, (_, hour) => ({
    at: at('2026-10-24T22:00:00Z') + (hour + 1) * 3600,
    spent: 1,
  }))
  const today = bars({ ...history, samples: hourly }, 'today', at('2026-10-25T22:30:00Z'))
  expect(today.map(({ spent }) => spent)).toEqual([1, 1, 2, ...Array.from({ length: 21 }, () => 1)])
  vi.unstubAllEnvs()
})
