import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  perHourLately,
  type StoredSample,
  thinnedSamples,
  wasCharged,
  withAmount,
  withoutOld,
} from '#core/money/samples.ts'

const start = 1_800_000_000

test('spending within five minutes is one sample, with the credit at its end', () => {
  let samples: StoredSample[] = []
  for (let at = 10; at <= 600; at += 10) samples = withAmount(samples, start + at, 1000, 5_000_000 - at)
  expect(samples).toEqual([
    [start + 300, 30_000, 4_999_700],
    [start + 600, 30_000, 4_999_400],
  ])
})

test('a step back in time loses no amount of the samples that lie in the future', () => {
  const samples = withAmount([[start + 3000, 1, 1]], start + 10, 5, undefined)
  expect(samples).toEqual([[start + 300, 6, 1]])
})

test('samples are kept for ninety days', () => {
  const samples: StoredSample[] = [
    [start - 91 * 86_400, 1, 1],
    [start - 89 * 86_400, 1, 1],
    [start, 1, 1],
  ]
  expect(withoutOld(samples)).toEqual(samples.slice(1))
})

test('however few samples are requested, they add up to the whole', () => {
  const amounts = fc.array(fc.tuple(fc.nat(400), fc.nat(9_999_999), fc.boolean()), {
    minLength: 1,
    maxLength: 200,
  })
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 60 }), (steps, most) => {
      let at = start
      let samples: StoredSample[] = []
      for (const [minutes, spent, isKnown] of steps) {
        at += minutes * 60
        samples = withAmount(samples, at, spent, isKnown ? spent : undefined)
      }
      const thin = thinnedSamples(samples, 0, most)
      const sum = (all: readonly { spent: number }[]) => all.reduce((total, { spent }) => total + spent, 0)
      expect(sum(thin)).toBe(steps.reduce((total, [, spent]) => total + spent, 0))
      expect(thin.length).toBeLessThanOrEqual(most + 1)
      const credit = samples.at(-1)?.[2] ?? undefined
      if (credit !== undefined) expect(thin.at(-1)?.credit).toBe(credit)
      const ats = thin.map(sample => sample.at)
      expect(ats).toEqual([...new Set(ats)].sort((a, b) => a - b))
    }),
  )
})

const sample = (end: number, spent: number): StoredSample => [end, spent, null]

test('the spending of the last hour counts once, however short it was seen', () => {
  expect(perHourLately([])).toBe(0)
  expect(perHourLately([sample(300, 3_000_000)])).toBe(3_000_000)
  const steady = Array.from({ length: 30 }, (_, index) => sample((index + 1) * 300, 100_000))
  expect(perHourLately(steady)).toBe(1_200_000)
})

test('spending in a break is spread over it', () => {
  expect(perHourLately([sample(300, 0), sample(300 + 8 * 3600, 8_000_000)])).toBe(1_000_000)
})

test('samples that lie in the future since time went back do not count', () => {
  expect(perHourLately([sample(90_000, 5_000_000), sample(300, 1_000_000)])).toBe(1_000_000)
})

test('no machine has cost twice what left the account meanwhile, where that is known', () => {
  const samples: StoredSample[] = [
    [start, 5_000_000, 20_000_000],
    [start + 300, 60_000, 19_940_000],
    [start + 600, 78_000, 19_862_000],
  ]
  expect(wasCharged(samples, 270_000, start)).toBe(true)
  expect(wasCharged(samples, 2_250_000, start)).toBe(false)
  expect(wasCharged(samples, 2_250_000, start - 10)).toBe(true)
  // Nothing is known of the time before the first sample, of one without a credit, and of none.
  expect(wasCharged(samples.slice(1), 2_250_000, start - 10)).toBe(true)
  expect(wasCharged([...samples, [start + 900, 0, null]], 2_250_000, start)).toBe(true)
  expect(wasCharged([], 2_250_000, start)).toBe(true)
})
