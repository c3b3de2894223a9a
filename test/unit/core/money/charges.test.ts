import { expect, test } from 'vitest'
import { asCharged, chargedDay, daysDue, topUpsOf } from '#core/money/charges.ts'
import { emptyDay, localDay, nextMidnight } from '#core/money/days.ts'

const to = nextMidnight(1_800_000_000)
const range = { day: localDay(to - 1), from: to - 86_400, to }

test('charges beyond the day count by their share of time, volumes for no instance', () => {
  const rows = [
    {
      source: 'instance-7',
      amount: 3,
      items: [
        { type: 'gpu', start: to - 3600, end: to + 3600, amount: 2 },
        { type: 'bwd', start: to - 7200, end: to - 3600, amount: 0.25 },
        { type: 'bwu', start: to - 60, end: to - 60, amount: 0.5 },
        { type: 'novelty', start: to - 60, end: null, amount: 0.125 },
        { type: 'disk', start: to + 60, end: to + 3600, amount: 9 },
      ],
    },
    { source: 'volume-9', start: to - 3600, end: to - 60, amount: 0.5 },
  ]
  expect(chargedDay(range, rows)).toEqual({
    day: range.day,
    spent: 2_375_000,
    instances: { 7: { gpu: 1_000_000, traffic: 750_000, other: 125_000 } },
  })
})

test('a day without listed charges stays as it was counted', () => {
  const counted = { ...emptyDay(range.day), spent: 5, estimated: true as const }
  const kept = { days: [chargedDay(range, [])], topUps: {}, askedAt: to + 7200 }
  expect(asCharged([counted], kept, {})).toEqual([counted])
})

test('a day Berth never watched appears once the service lists its charges', () => {
  const day = chargedDay(range, [{ source: 'instance-7', start: to - 60, end: to, amount: 1 }])
  const [shown] = asCharged([], { days: [day], topUps: {}, askedAt: to + 7200 }, { 7: { gpu: 'L40' } })
  expect(shown).toMatchObject({ day: range.day, spent: 1_000_000, models: { L40: 1_000_000 } })
})

test('today’s estimated top-up gives way to the invoices, a known one does not', () => {
  const today = { ...emptyDay(localDay(to)), toppedUp: 35_000_000 }
  const kept = { days: [], topUps: { [today.day]: 10_000_000 }, askedAt: to + 60, invoicesUntil: to + 60 }
  expect(asCharged([today], kept, {})).toEqual([today])
  const estimated = { ...today, estimated: true as const }
  expect(asCharged([estimated], kept, {})).toEqual([{ ...today, toppedUp: 10_000_000 }])
  expect(asCharged([estimated], { ...kept, invoicesUntil: undefined }, {})).toEqual([estimated])
})

test('a payment is a top-up, less reversals', () => {
  const rows = [
    { type: 'credit', amount: -25, start: to - 60 },
    { type: 'credit', amount: -5.5, start: to - 30 },
    { type: 'credit', amount: 3, start: to - 30 },
    { type: 'reserved', amount: -100, start: to - 30 },
    { type: 'credit', amount: -7 },
  ]
  expect(topUpsOf(rows)).toEqual({ topUps: { [range.day]: 27_500_000 }, unsure: new Set() })
  const reversed = [...rows, { type: 'credit', amount: 90, start: to - 20 }]
  expect(topUpsOf(reversed).topUps).toEqual({ [range.day]: 0 })
})

test.each(['transfer', 'refund', 'payout'])('a day with a %s keeps its counted spending', type => {
  const rows = [
    { type: 'credit', amount: -25, start: to - 60 },
    { type, amount: -10, start: to - 30 },
  ]
  const { topUps, unsure } = topUpsOf(rows)
  const counted = { ...emptyDay(range.day), toppedUp: 35_000_000, estimated: true as const }
  const kept = { days: [], topUps, askedAt: to + 7200, invoicesUntil: to + 7200, unsureDays: [...unsure] }
  expect(asCharged([counted], kept, {})).toEqual([counted])
  expect(asCharged([counted], { ...kept, unsureDays: [] }, {})[0]?.toppedUp).toBe(25_000_000)
})

test('the seven days before today are requested, except final ones', () => {
  const final = { ...chargedDay(range, []), final: true as const }
  const days = daysDue({ days: [final] }, to + 600)
  expect(days).toHaveLength(6)
  expect(days[0]).toMatchObject({ to: range.from })
})
