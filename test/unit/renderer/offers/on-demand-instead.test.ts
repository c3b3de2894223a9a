import { expect, test } from 'vitest'
import { insteadOfBid } from '#renderer/features/market/onDemandInstead.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'

/** Offers of those prices per hour with the disk, which is one cent of them. */
const offers = (...prices: number[]) =>
  catalogueOf(
    prices.map((price, id) => ({ id, price, storagePrice: 10_000, gpuName: 'RTX 4090', gpuCount: 1 })),
    'on-demand',
  ).offers

test('a bid is compared with the cheapest price on demand, without the disk', () => {
  expect(insteadOfBid(offers(350_000, 380_000), 370_000)).toEqual({ offer: 0, price: 340_000 })
  expect(insteadOfBid(offers(380_000), 370_000)).toEqual({ offer: 0, price: 370_000 })
  expect(insteadOfBid(offers(380_001), 370_000)).toBeUndefined()
  expect(insteadOfBid([], 370_000)).toBeUndefined()
})
