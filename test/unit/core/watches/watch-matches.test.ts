import { expect, test } from 'vitest'
import { priceSamples, type StoredPrice, withPrices } from '#core/watches/prices.ts'
import type { Watch } from '#core/watches/record.ts'
import { resultOf } from '#core/watches/step.ts'
import type { OfferView } from '#shared/market/offer.ts'

const start = 1_800_000_000
const offer = (id: number, price: number, more: Partial<OfferView> = {}): OfferView => ({
  id,
  machineId: id * 10,
  gpuName: 'H100 SXM',
  gpuCount: 1,
  price,
  ...more,
})
const watch: Watch = {
  id: 'w0000000000000001',
  account: 'a00000001',
  request: {
    name: 'Cheap H100',
    search: {
      query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 10_000 },
      filter: { gpus: ['H100 SXM'], priceTo: 1.5 },
      order: { column: 'price', descending: false },
    },
    every: 5,
  },
  paused: false,
  rented: 0,
  failed: 0,
}
/** The prices that are news at each search; the searches are `pause` seconds apart. */
function news(searches: readonly (readonly OfferView[])[], pause = 300): number[][] {
  // The market was empty at the first search.
  let known: Watch = { ...watch, alerted: [], searchedAt: start }
  return searches.map((offers, at) => {
    const now = start + at * pause
    const seen = resultOf(known, offers, now)
    known = { ...known, alerted: seen.alerted, searchedAt: now }
    return seen.fresh.map(({ price }) => price ?? 0)
  })
}

test('each matching offer is reported once, the cheapest first, and no others are', () => {
  const market = [
    offer(1, 1_490_000),
    offer(2, 1_600_000),
    offer(3, 1_200_000),
    offer(4, 900_000, { gpuName: 'A100' }),
  ]
  expect(news([market, market])).toEqual([[1_200_000, 1_490_000], []])
})

test('a machine is news again only when clearly cheaper, whatever its offer’s id', () => {
  const searches = [
    [offer(1, 1_400_000)],
    [offer(9, 1_390_000, { machineId: 10 })],
    [offer(9, 1_300_000, { machineId: 10 })],
    [offer(9, 1_300_000, { machineId: 10 })],
  ]
  expect(news(searches)).toEqual([[1_400_000], [], [1_300_000], []])
})

test('a machine that flickers is reported once; one that was away for a day is news', () => {
  const there = [offer(1, 1_400_000)]
  expect(news([there, [], there])).toEqual([[1_400_000], [], []])
  expect(news([there, [], [], there], 50_000)).toEqual([[1_400_000], [], [], [1_400_000]])
})

test('thousands of matches are reported once, and the memory of them is bounded', () => {
  const many = Array.from({ length: 3000 }, (_, at) => offer(at + 1, 1_000_000 + at))
  expect(news([many, many]).map(({ length }) => length)).toEqual([200, 0])
  const seen = resultOf(watch, many, start)
  expect(seen.matching).toHaveLength(3000)
  expect(seen.alerted.length).toBeLessThanOrEqual(1000)
})

test('offers that are there when a watch begins are not news, even after a long pause', () => {
  const there = [offer(1, 1_400_000)]
  const first = resultOf(watch, there, start)
  expect(first).toMatchObject({ fresh: [], matching: [{ price: 1_400_000 }] })
  const later = { ...watch, alerted: first.alerted, searchedAt: start }
  expect(resultOf(later, there, start + 10 * 86_400).fresh).toEqual([])
  expect(resultOf(later, [...there, offer(2, 1_300_000)], start + 60).fresh).toMatchObject([
    { price: 1_300_000 },
  ])
})

test('an offer that moves up among the cheapest of many is not news', () => {
  const many = Array.from({ length: 300 }, (_, at) => offer(at + 1, 1_000_000 + at))
  const found = news([many, many.slice(50), [offer(999, 999_999), ...many.slice(50)]])
  expect(found.map(({ length }) => length)).toEqual([200, 0, 1])
})

test('offers above the price or bid that a watch may pay do not match it', () => {
  const market = [offer(1, 1_490_000), offer(3, 1_200_000, { minimumBid: 700_000 }), offer(4, 1_300_000)]
  const openRequest = { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] } as const
  const matching = (price: number | undefined, bid?: number) => {
    const limits = { attempts: 1, ceiling: 1, deadline: 600, ...(price === undefined ? {} : { price }) }
    const wanted = { ...openRequest, env: [], ports: [], ...(bid === undefined ? {} : { bid }) }
    const request = { ...watch.request, rents: { request: wanted, limits, most: 1 } }
    return resultOf({ ...watch, request }, market, start).matching.map(({ offer: { id } }) => id)
  }
  expect(matching(undefined)).toEqual([3, 4, 1])
  expect(matching(1.3)).toEqual([3, 4])
  expect(matching(1.29)).toEqual([3])
  // A bid is compared with the lowest that runs.
  expect(matching(undefined, 0.7)).toEqual([3])
  expect(matching(undefined, 0.69)).toEqual([])
})

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
