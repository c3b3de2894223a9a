import { expect, test } from 'vitest'
import type { OfferView } from '../../../../electron/contract/market/offer.ts'
import { bestOffer } from '../../../../electron/core/failover/best-offer.ts'

const dollar = 1_000_000
const offers = [
  { id: 1, machineId: 10 },
  { id: 2, machineId: 20, price: 0.5 * dollar, minimumBid: 0.3 * dollar },
  { id: 3, machineId: 30, price: 0.4 * dollar, minimumBid: 0.2 * dollar },
]

/** Dearest first, so that it is a limit and not the order that leaves one out. */
function chosen(price: number | undefined, among: readonly OfferView[] = offers): number | undefined {
  const choice = bestOffer(
    {
      search: {
        query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
        filter: {},
        order: { column: 'price', descending: true },
      },
      request: { image: 'ubuntu', access: 'ssh', disk: 20, env: [], ports: [] },
      limits: { tries: 5, ceiling: 1, deadline: 600, ...(price === undefined ? {} : { price }) },
      tries: [],
    },
    among,
    {},
  )
  return choice?.offer.id
}

test('nothing dearer than the limit is tried, and nothing that does not tell its price', () => {
  expect(chosen(undefined)).toBe(2)
  expect(chosen(0.5)).toBe(2)
  expect(chosen(0.49)).toBe(3)
  expect(chosen(0.39)).toBeUndefined()
})

test('a machine without room for the disk that is asked for is passed over', () => {
  const [, second, third] = offers
  const small = { id: 2, machineId: 20, ...second, disk: 19 }
  expect(chosen(undefined, [small, { id: 3, machineId: 30, ...third, disk: 20 }])).toBe(3)
  expect(chosen(undefined, [small])).toBeUndefined()
})
