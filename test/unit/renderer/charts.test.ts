import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labelsThatFit, moments, scale } from '#renderer/components/charts/scale.ts'
import { creditSparkline, extent, sinceWhen, sparkline } from '#renderer/components/charts/sparkline.ts'

describe('a value axis', () => {
  test('begins and ends at round values', () => {
    expect(scale(0, 26.3, 0.01)).toMatchObject({ bottom: 0, top: 30 })
    expect(scale(0, 26.3, 0.01).marks.map(({ value }) => value)).toEqual([0, 10, 20, 30])
    expect(scale(-3, 4, 1).marks.map(({ value }) => value)).toEqual([-4, -2, 0, 2, 4])
  })

  test('has no marks closer than the given step', () => {
    expect(scale(0, 0, 10_000).marks.map(({ value }) => value)).toEqual([0, 10_000])
  })

  test('covers every value with two to six marks', () => {
    const micros = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 })
    fc.assert(
      fc.property(micros, micros, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const { bottom, top, marks } = scale(low, high, 10_000)
        expect(bottom).toBeLessThanOrEqual(low)
        expect(top).toBeGreaterThanOrEqual(high)
        expect(marks.length).toBeGreaterThan(1)
        expect(marks.length).toBeLessThanOrEqual(6)
        expect([marks[0]?.value, marks.at(-1)?.value]).toEqual([bottom, top])
      }),
    )
  })
})

describe('a time axis', () => {
  const at = (hour: number, minute = 0, day = 21) => new Date(2026, 10, day, hour, minute).getTime() / 1000

  test('marks full hours of a day and midnights of a week', () => {
    expect(moments(at(1, 30), at(13, 30)).map(({ value }) => value)).toEqual([at(3), at(6), at(9), at(12)])
    const week = moments(at(5, 0, 14), at(5, 0, 21))
    for (const { value } of week) expect(new Date(value * 1000).getHours()).toBe(0)
    expect(week.length).toBe(4)
  })

  test('has at most six marks, in order and within its range', () => {
    const from = fc.integer({ min: 1_600_000_000, max: 2_000_000_000 })
    fc.assert(
      fc.property(from, fc.integer({ min: 120, max: 400 * 86_400 }), (start, length) => {
        const marks = moments(start, start + length)
        expect(marks.length).toBeLessThanOrEqual(6)
        for (const [index, mark] of marks.entries()) {
          expect(mark.at).toBeGreaterThan(marks[index - 1]?.at ?? -1)
          expect(mark.at).toBeGreaterThanOrEqual(0)
          expect(mark.at).toBeLessThanOrEqual(1)
        }
      }),
    )
  })
})

describe('labels of an axis', () => {
  const days = Array.from({ length: 30 }, (_, at) => ({ at: (at + 0.5) / 30, value: `${at + 1} Nov` }))

  test('never touch, at any width, and the last is kept', () => {
    for (const width of [160, 300, 640, 1080, 1900]) {
      const kept = labelsThatFit(days, width)
      expect(kept.at(-1)?.value).toBe('30 Nov')
      const between = kept.slice(1).map((mark, at) => (mark.at - (kept[at]?.at ?? 0)) * width)
      expect(Math.min(...between)).toBeGreaterThan('30 Nov'.length * 6)
    }
    expect(labelsThatFit(days, 3000)).toHaveLength(30)
    expect(labelsThatFit([], 300)).toEqual([])
  })
})

test('a line connects the values over an area down to the bottom', () => {
  expect(sparkline([0, 50, 100], 100, 20)).toEqual({
    line: 'M0 20L1 10L2 0',
    area: 'M0 20L1 10L2 0L2 20L0 20Z',
  })
})

test('unknown values are gaps, and a lone value is a dot', () => {
  expect(sparkline([null, 100, null, null, 50, 50], 100, 20)).toEqual({
    line: 'M1 0h0M4 10L5 10',
    area: 'M1 0L1 20L1 20ZM4 10L5 10L5 20L4 20Z',
  })
})

test('values out of range are drawn on the edge', () => {
  expect(sparkline([-5, 400], 100, 10).line).toBe('M0 10L1 0')
})

test('the extent is that of the known values', () => {
  expect(extent([null, 40, 90, null])).toEqual({ last: 90, lowest: 40, highest: 90 })
  expect(extent([null])).toBeUndefined()
})

test('a course of a few minutes says since when it is known; a longer one is a line', () => {
  const hour = (known: number) => [...Array(60 - known).fill(null), ...Array(known).fill(50)]
  expect(sinceWhen(hour(1), 600)).toBe(600)
  expect(sinceWhen(hour(9), 600)).toBe(120)
  expect(sinceWhen(hour(10), 600)).toBeUndefined()
  expect(sinceWhen(hour(0), 600)).toBeUndefined()
})

const now = 1_790_000_000
const halfHour = 1800

test('a day’s credit is a line up to now, with gaps where nothing was polled', () => {
  const known = [24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 2]
  const samples = known.map(back => ({ at: now - back * halfHour - 60, spent: 0, credit: back * 1000 }))
  const unpaid = { at: now - halfHour - 60, spent: 0 }
  const line = creditSparkline([...samples, unpaid], now, 500)
  expect(line).toHaveLength(48)
  expect(line?.slice(-17)).toEqual([16_000, 15_000, ...new Array(12).fill(null), 2000, null, 500])
  // After a night asleep, what is left of the day before would be specks.
  expect(creditSparkline([...samples.slice(1), unpaid], now, 500)).toBeUndefined()
})

test('an account with too few samples has no line', () => {
  expect(creditSparkline([], now, 500)).toBeUndefined()
  expect(creditSparkline([{ at: now - 90_000, spent: 0, credit: 5 }], now, 500)).toBeUndefined()
  const lately = [1, 2, 3, 4].map(back => ({ at: now - back * halfHour - 60, spent: 0, credit: 5 }))
  expect(creditSparkline(lately, now, 500)).toBeUndefined()
})
