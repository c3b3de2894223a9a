import { expect, test } from 'vitest'
import { priceSamples, type StoredPrice, withPrices } from '#core/market/watch-matches.ts'

const start = 1_800_000_000

test('a search keeps the number of offers, the lowest price and the quartiles', () => {
  const kept = withPrices([], start, [500, 100, 300, 200, 400])
  expect(priceSamples(kept)).toEqual([{ at: start, count: 5, lowest: 100, low: 200, middle: 300, high: 400 }])
})

test('one search an hour is kept, for ninety days', () => {
  let kept: readonly StoredPrice[] = []
  for (let at = start; at < start + 100 * 86_400; at += 900) kept = withPrices(kept, at, [at])
  expect(kept).toHaveLength(90 * 24)
  const hours = kept.map(([at]) => Math.floor(at / 3600))
  expect(new Set(hours).size).toBe(hours.length)
})

test('a search without offers, or a second one in the hour, changes nothing', () => {
  const kept = withPrices([], start, [7])
  expect(withPrices(kept, start + 4000, [])).toBe(kept)
  expect(withPrices(kept, start + 60, [9])).toBe(kept)
})

test('a step back in time drops the samples that lie in the future', () => {
  const kept = withPrices(withPrices([], start + 9000, [7]), start, [9])
  expect(priceSamples(kept).map(({ lowest }) => lowest)).toEqual([9])
})
