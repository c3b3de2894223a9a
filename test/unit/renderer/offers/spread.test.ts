import { expect, test } from 'vitest'
import { catalogueOf } from '../../../../electron/contract/market/catalogue.ts'
import { priceSpread, quantile } from '../../../../renderer/screens/offers/table/spread.ts'
import { offer } from './listed.ts'

const spreadOf = (prices: number[], bars?: number) =>
  priceSpread(
    catalogueOf(
      prices.map((price, id) => offer({ id: id + 1, price })),
      'on-demand',
    ).offers,
    bars,
  )

test('a quarter is cheaper than the low end of the middle half, a quarter dearer than its high end', () => {
  expect(spreadOf([5, 1, 3, 2, 4])).toMatchObject({ low: 2, high: 4 })
  expect(quantile(Float64Array.of(1, 2), 0.25)).toBe(1.25)
})

test('of fewer than four prices nothing is said', () => {
  expect(spreadOf([1, 2, 3])).toBeUndefined()
})

test('offers without a price do not count', () => {
  const { price: _, ...unpriced } = offer({ id: 9 })
  expect(
    priceSpread(catalogueOf([unpriced, unpriced, unpriced, unpriced], 'on-demand').offers),
  ).toBeUndefined()
})

test('all at one price is one bar, in the middle half', () => {
  const spread = spreadOf([7, 7, 7, 7])
  expect(spread).toMatchObject({ low: 7, high: 7 })
  expect(spread?.bars.filter(bar => bar.height > 0)).toEqual([{ height: 1, middle: true }])
})

test('a few giants do not press all others into one bar', () => {
  const prices = [...Array.from({ length: 99 }, (_, index) => 1000 + index * 10), 1_000_000_000]
  expect(spreadOf(prices, 10)?.bars.filter(bar => bar.height > 0)).toHaveLength(10)
})
