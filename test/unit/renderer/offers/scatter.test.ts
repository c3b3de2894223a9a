import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dotAt,
  dotsOf,
  frameOf,
  isWithin,
  labelsOf,
  nextDot,
  pointOf,
  regionBetween,
} from '#renderer/screens/offers/scatter.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offer } from './listed.ts'

const listed = (...offers: Parameters<typeof offer>[0][]) =>
  catalogueOf(
    offers.map(each => offer(each)),
    'on-demand',
  ).offers

const market = listed(
  { id: 1, price: 1_000_000, score: 100 },
  { id: 2, price: 2_000_000, score: 200 },
  { id: 3, price: 8_000_000, gpuCount: 4, score: 1200, reliability: 0.999 },
  { id: 4, price: 3_000_000, score: 400, reliability: 0.9 },
)
const dots = dotsOf(market)
const frame = frameOf(dots, 800, 172)
const dot = (id: number) => {
  const found = dots.find(({ listed: { offer } }) => offer.id === id)
  if (!found) throw new Error(`there is no dot ${id}`)
  return found
}

describe('a chart of offers', () => {
  test('shows price and score per GPU, with count as size and reliability as fill', () => {
    expect(dot(3)).toMatchObject({ price: 2_000_000, score: 300, reliability: 'high' })
    expect(dot(3).radius).toBeGreaterThan(dot(2).radius)
    expect([dot(2).reliability, dot(4).reliability]).toEqual(['middle', 'low'])
  })

  test('leaves out offers without a price or a score', () => {
    const [without] = listed({ id: 1 })
    expect(dotsOf(without ? [without] : [])).toEqual([])
    expect(without && isWithin(without, { priceFrom: 0, priceTo: 9e9, scoreFrom: 0, scoreTo: 9e9 })).toBe(
      false,
    )
  })

  test('selects the offers whose dots are in the drawn region', () => {
    const { x, y } = pointOf(dot(2), frame)
    const region = regionBetween({ x: x + 5, y: y - 5 }, { x: x - 5, y: y + 5 }, frame)
    expect(market.filter(each => isWithin(each, region)).map(each => each.offer.id)).toEqual([2])
    const all = regionBetween({ x: -50, y: -50 }, { x: 900, y: 900 }, frame)
    expect(market.every(each => isWithin(each, all))).toBe(true)
  })

  test('finds the dot near the pointer, and none elsewhere', () => {
    const { x, y } = pointOf(dot(4), frame)
    expect(dotAt(dots, { x: x + 3, y: y - 3 }, frame)).toBe(dot(4))
    expect(dotAt(dots, { x: x + 40, y }, frame)).toBeUndefined()
  })

  test('moves by arrow key to the next dot that way, and stays at the last', () => {
    expect(nextDot(dots, dot(1), { x: 1, y: 0 }, frame)).toBe(dot(2))
    expect(nextDot(dots, dot(2), { x: 0, y: -1 }, frame)).toBe(dot(3))
    expect(nextDot(dots, dot(4), { x: 1, y: 0 }, frame)).toBe(dot(4))
  })

  test('ignores a few far more expensive offers in its scale', () => {
    const many = listed(
      ...Array.from({ length: 300 }, (_, id) => ({ id, price: 1_000_000 + id * 1000, score: 100 + id })),
      { id: 999, price: 90_000_000, score: 200 },
    )
    expect(10 ** frameOf(dotsOf(many), 800, 172).prices.top).toBeLessThan(3_000_000)
  })

  test('gives cheap offers as much room as expensive ones, with few round marks', () => {
    const dear = Array.from({ length: 9 }, (_, id) => ({ id: 10 + id, price: 9_000_000, score: 2 }))
    const wide = frameOf(dotsOf(listed({ id: 1, price: 30_000, score: 1 }, ...dear)), 800, 172)
    const at = (price: number) => pointOf({ price, score: 1 }, wide).x
    expect(at(100_000) - at(50_000)).toBeCloseTo(at(2_000_000) - at(1_000_000), 6)
    expect(wide.prices.marks.map(({ value }) => value / 1_000_000)).toEqual([
      0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
    ])
    for (const { at: share } of wide.prices.marks) expect(share).toBeGreaterThanOrEqual(0)
    // A drawn region has the prices under its corners.
    fc.assert(
      fc.property(fc.integer({ min: 30_000, max: 9_000_000 }), price => {
        const place = pointOf({ price, score: 1 }, wide)
        const region = regionBetween(place, place, wide)
        expect(Math.abs(region.priceFrom - price)).toBeLessThan(2)
      }),
    )
  })

  test('leaves out GPU names that would overlap', () => {
    const names = labelsOf(
      dotsOf(
        listed(
          { id: 1, gpuName: 'A', price: 1_000_000, score: 100 },
          { id: 2, gpuName: 'A', price: 1_000_000, score: 100 },
          { id: 3, gpuName: 'B', price: 1_001_000, score: 100 },
          { id: 4, gpuName: 'C', price: 4_000_000, score: 900 },
        ),
      ),
      frame,
    )
    expect(names.map(({ text }) => text)).toEqual(['A', 'C'])
  })
})
