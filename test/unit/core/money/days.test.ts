import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import {
  dayParts,
  emptyDay,
  localDay,
  nextMidnight,
  withDaysOver,
  withModels,
  withStretch,
} from '#core/money/days.ts'
import { neededNames } from '#core/money/money.ts'

const midnight = nextMidnight(1_800_000_000)
const model = () => 'RTX 4090'

test('spending across midnight is split by time, exact to the micro-dollar', () => {
  const days = withStretch(emptyDay(localDay(midnight - 1)), {
    from: midnight - 100,
    to: midnight + 200,
    spent: 1_000_001,
    toppedUp: 5_000_000,
    shares: new Map([['7', 900_001]]),
    uses: new Map([['7', { gpu: 800_001, disk: 90_000, traffic: 10_000, ran: 240 }]]),
    credit: 3,
    model,
  })
  expect(days.map(({ spent }) => spent)).toEqual([333_333, 666_668])
  expect(days.map(({ instances }) => instances['7'])).toEqual([300_000, 600_001])
  expect(days.map(({ uses }) => uses?.['7'])).toEqual([
    { gpu: 266_667, disk: 30_000, traffic: 3333, ran: 80 },
    { gpu: 533_334, disk: 60_000, traffic: 6667, ran: 160 },
  ])
  expect(days.map(({ models }) => models['RTX 4090'])).toEqual([300_000, 600_001])
  expect(days.map(({ toppedUp, credit }) => [toppedUp, credit])).toEqual([
    [0, undefined],
    [5_000_000, 3],
  ])
})

test('the days of a stretch add up to it, however long it is', () => {
  const amount = fc.integer({ min: 0, max: 10_000_000_000 })
  fc.assert(
    fc.property(amount, amount, fc.integer({ min: 0, max: 20 * 86_400 }), (spent, share, seconds) => {
      const disk = Math.floor(share / 3)
      const use = { gpu: share - disk, disk, ran: seconds }
      const days = withStretch(emptyDay(localDay(midnight - 3600)), {
        from: midnight - 3600,
        to: midnight - 3600 + seconds,
        spent,
        toppedUp: 0,
        shares: new Map([['7', share]]),
        uses: new Map([['7', use]]),
        model,
      })
      const sum = (amounts: number[]) => amounts.reduce((a, b) => a + b, 0)
      expect(sum(days.map(day => day.spent))).toBe(spent)
      expect(sum(days.map(day => day.instances['7'] ?? 0))).toBe(share)
      const used = days.map(day => day.uses?.['7'] ?? {})
      expect(sum(used.map(({ gpu = 0, disk = 0, traffic = 0 }) => gpu + disk + traffic))).toBe(share)
      if (share > 0) expect(sum(used.map(({ ran = 0 }) => ran))).toBeLessThanOrEqual(seconds)
      expect(new Set(days.map(({ day }) => day)).size).toBe(days.length)
    }),
  )
})

test('ten years of days with fifty machines each stay below five megabytes', () => {
  let over = withDaysOver([], [])
  for (let year = 0; year < 10; year += 1) {
    const more = Array.from({ length: 365 }, (_, day) => ({
      ...emptyDay(localDay(midnight + (year * 365 + day) * 86_400 + 43_200)),
      spent: 123_456_789,
      models: { 'RTX 4090': 100_000_000, 'H100 SXM': 20_000_000, A100: 3_456_789 },
      instances: Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [String(9_000_000 + year * 18_250 + day * 50 + at), 2_469_135]),
      ),
      uses: Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [
          String(9_000_000 + year * 18_250 + day * 50 + at),
          { gpu: 2_369_135, disk: 90_000, traffic: 10_000, ran: 86_400 },
        ]),
      ),
    }))
    over = withDaysOver(over, more)
  }
  expect(over).toHaveLength(3650)
  expect(over.at(0)?.instances).toEqual({})
  expect(Object.keys(over.at(-1)?.instances ?? {})).toHaveLength(40)
  const names = Object.fromEntries(
    Array.from({ length: 200_000 }, (_, at) => [
      String(9_000_000 + at),
      { gpu: 'RTX 4090', label: 'a label of usual length' },
    ]),
  )
  const kept = { days: over, names: neededNames(names, over) }
  expect(JSON.stringify(kept).length).toBeLessThan(3_500_000)
})

test('what was counted before a GPU was known is that GPU’s once it is', () => {
  const day = {
    ...emptyDay('2026-11-21'),
    spent: 100,
    models: { '': 40, L40: 60 },
    instances: { 7: 75, 8: 25 },
  }
  expect(withModels(day, {}).models).toEqual({ '': 40, L40: 60 })
  expect(withModels(day, { 7: { gpu: 'L40' } }).models).toEqual({ '': 25, L40: 75 })
  expect(withModels(day, { 7: { gpu: 'L40' }, 8: { gpu: 'H100' } }).models).toEqual({ L40: 75, H100: 25 })
})

test('a newer record of a day replaces the older one', () => {
  const day = emptyDay('2026-11-21')
  const over = withDaysOver([{ ...day, spent: 1 }], [{ ...day, spent: 2 }, emptyDay('2026-11-20')])
  expect(over.map(({ day, spent }) => [day, spent])).toEqual([
    ['2026-11-20', 0],
    ['2026-11-21', 2],
  ])
})

afterEach(() => vi.unstubAllEnvs())

/** Zones, each with a moment before its clocks change: by half an hour, at midnight, or by a whole day. */
test.for([
  ['Europe/Berlin', '2026-03-28T20:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T13:00:00Z'],
  ['America/Sao_Paulo', '2018-11-03T03:00:00Z'],
  ['America/Sao_Paulo', '2018-02-17T02:00:00Z'],
  ['Pacific/Apia', '2011-12-29T10:00:00Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z'],
] as const)(
  'every stretch in %s is split in order, with one part for each day, also around %s',
  ([tz, change]) => {
    vi.stubEnv('TZ', tz)
    const from = fc.oneof(
      fc.integer({ min: 1_200_000_000, max: 1_900_000_000 }),
      fc.constant(Date.parse(change) / 1000),
    )
    fc.assert(
      fc.property(from, fc.integer({ min: 1, max: 40 * 86_400 }), (at, seconds) => {
        expect(nextMidnight(at)).toBeGreaterThan(at)
        const parts = dayParts(at, at + seconds)
        const days = parts.map(({ day }) => day)
        expect(days).toEqual([...new Set(days)].sort())
        expect([days[0], days.at(-1)]).toEqual([localDay(at), localDay(at + seconds - 0.001)])
        const ends = parts.map(({ until }) => until)
        expect(ends).toEqual([...ends].sort((a, b) => a - b))
        expect(ends.at(-1)).toBe(1)
        for (const [index, { until, day }] of parts.slice(0, -1).entries()) {
          const end = Math.round(at + until * seconds)
          expect([localDay(end - 1), localDay(end)]).toEqual([day, parts[index + 1]?.day])
        }
      }),
      { seed: 1, numRuns: 300 },
    )
  },
)
