import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { dayParts, localDay, nextMidnight } from '#core/money/days.ts'

afterEach(() => vi.unstubAllEnvs())

/** The hours of each day that a stretch touches, by the local calendar in a zone. */
function hours(tz: string, from: string, to: string): (readonly [string, number])[] {
  vi.stubEnv('TZ', tz)
  const [first, last] = [Date.parse(from) / 1000, Date.parse(to) / 1000]
  const parts = dayParts(first, last)
  return parts.map(({ day, until }, index) => {
    const since = parts[index - 1]?.until ?? 0
    return [day, Math.round((((until - since) * (last - first)) / 3600) * 1000) / 1000] as const
  })
}

test.for([
  [
    'Europe/Berlin',
    '2026-03-28T23:00:00Z',
    '2026-03-30T22:00:00Z',
    [
      ['2026-03-29', 23],
      ['2026-03-30', 24],
    ],
  ],
  [
    'Europe/Berlin',
    '2026-10-24T22:00:00Z',
    '2026-10-26T23:00:00Z',
    [
      ['2026-10-25', 25],
      ['2026-10-26', 24],
    ],
  ],
  ['Australia/Lord_Howe', '2026-04-04T13:00:00Z', '2026-04-05T13:30:00Z', [['2026-04-05', 24.5]]],
  // Midnight is skipped, and then repeated.
  [
    'America/Sao_Paulo',
    '2018-11-03T03:00:00Z',
    '2018-11-05T02:00:00Z',
    [
      ['2018-11-03', 24],
      ['2018-11-04', 23],
    ],
  ],
  [
    'America/Sao_Paulo',
    '2018-02-17T02:00:00Z',
    '2018-02-19T03:00:00Z',
    [
      ['2018-02-17', 25],
      ['2018-02-18', 24],
    ],
  ],
  // A whole day is skipped.
  [
    'Pacific/Apia',
    '2011-12-29T10:00:00Z',
    '2011-12-31T10:00:00Z',
    [
      ['2011-12-29', 24],
      ['2011-12-31', 24],
    ],
  ],
] as const)('days are as long as the calendar of %s has them, from %s', ([tz, from, to, expected]) => {
  expect(hours(tz, from, to)).toEqual(expected)
})

test.for(['Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia', 'America/Havana', 'Asia/Kathmandu'])(
  'every stretch in %s is split in order, with one part for each day',
  tz => {
    vi.stubEnv('TZ', tz)
    const from = fc.integer({ min: 1_200_000_000, max: 1_900_000_000 })
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
      }),
      { seed: 1, numRuns: 300 },
    )
  },
)
