import { expect, test } from 'vitest'
import { catalogueOf } from '#shared/market/catalogue.ts'
import type { OfferView } from '#shared/market/offer.ts'
import { type SortBy, Sorter, sortAfterClick } from '#shared/market/offer-order.ts'
import { offer } from '#test/unit/renderer/offers/listed.ts'

const sorted = (offers: OfferView[], by: SortBy, type: 'on-demand' | 'bid' = 'on-demand') =>
  new Sorter(catalogueOf(offers, type)).order(by).map(({ offer }) => offer.id)

const { price: _, ...unpriced } = offer({ id: 9 })

test('unknown values come last in both directions', () => {
  const offers = [unpriced, offer({ id: 1, price: 3 }), offer({ id: 2, price: 1 })]
  expect(sorted(offers, { column: 'price', descending: false })).toEqual([2, 1, 9])
  expect(sorted(offers, { column: 'price', descending: true })).toEqual([1, 2, 9])
})

test('equals are sorted by price, then by id, so that a refresh does not shuffle them', () => {
  const offers = [offer({ id: 3 }), offer({ id: 2 }), offer({ id: 1, price: 9_000_000 })]
  expect(sorted(offers, { column: 'reliability', descending: true })).toEqual([2, 3, 1])
})

test('GPUs sort by name in natural order, then by count', () => {
  const offers = [
    offer({ id: 1, gpuName: 'A100' }),
    offer({ id: 2, gpuName: 'A40' }),
    offer({ id: 3, gpuName: 'A40', gpuCount: 8 }),
    offer({ id: 4, gpuName: 'A40', gpuCount: 2 }),
  ]
  expect(sorted(offers, { column: 'gpu', descending: false })).toEqual([2, 4, 3, 1])
})

test('price per GPU and total VRAM are sort columns', () => {
  const offers = [
    offer({ id: 1, gpuCount: 1, price: 2_000_000, gpuMemory: 81_559 }),
    offer({ id: 2, gpuCount: 8, price: 8_000_000, gpuMemory: 24_564 }),
    offer({ id: 3, gpuCount: 2, price: 3_000_000, gpuMemory: 24_564 }),
  ]
  expect(sorted(offers, { column: 'pricePerGpu', descending: false })).toEqual([2, 3, 1])
  expect(sorted(offers, { column: 'memory', descending: true })).toEqual([2, 1, 3])
})

test('interruptible offers sort by their lowest bid with storage', () => {
  const offers = [
    offer({ id: 1, price: 1, minimumBid: 900_000 }),
    offer({ id: 2, price: 2, minimumBid: 300_000 }),
  ]
  expect(sorted(offers, { column: 'price', descending: false }, 'bid')).toEqual([2, 1])
})

test('the first click puts the better end first, the second reverses it', () => {
  const score = sortAfterClick({ column: 'price', descending: false }, 'score')
  expect(score).toEqual({ column: 'score', descending: true })
  expect(sortAfterClick(score, 'score')).toEqual({ column: 'score', descending: false })
  expect(sortAfterClick(score, 'price')).toEqual({ column: 'price', descending: false })
})
