import { expect, test } from 'vitest'
import { type BestOffer, bestOffer, fittingOffers, goodEnough } from '#core/renting/next-offer.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OpenRequest } from '#shared/market/rent-request.ts'
import { someRental, someSearch } from './some-rental.ts'

const dollar = 1_000_000
const retries = { attempts: 5, ceiling: 1, deadline: 600 }
const { request } = someRental()
const wanted = { search: someSearch, request, retries, attempts: [] }
const offers = [
  { id: 1, machineId: 10 },
  { id: 2, machineId: 20, price: 0.5 * dollar, minimumBid: 0.3 * dollar },
  { id: 3, machineId: 30, price: 0.4 * dollar, minimumBid: 0.2 * dollar },
]

/** Dearest first, so that the limit and not the order leaves an offer out. */
function chosen(
  price: number | undefined,
  among: readonly OfferView[] = offers,
  limitVeto: Parameters<typeof bestOffer>[3] = () => undefined,
): number | undefined {
  return best(price, among, limitVeto)?.choice.offer.id
}

function best(...[price, among, limitVeto]: Required<Parameters<typeof chosen>>): BestOffer | undefined {
  const search = { ...someSearch, order: { column: 'price', descending: true } } as const
  const within = { ...retries, ...(price === undefined ? {} : { price }) }
  return bestOffer({ ...wanted, search, retries: within }, among, {}, limitVeto)
}

test('offers above the price limit or without a price are not chosen', () => {
  expect(chosen(undefined)).toBe(2)
  expect(chosen(0.5)).toBe(2)
  expect(chosen(0.49)).toBe(3)
  expect(chosen(0.39)).toBeUndefined()
})

test('the offer to try first is chosen while it fits and was not tried', () => {
  const order = (first?: number, price = 0.5) =>
    [...fittingOffers({ ...wanted, first, retries: { ...retries, price } }, offers, {})].map(
      ({ offer }) => offer.id,
    )
  expect(order()).toEqual([3, 2])
  expect(order(2)).toEqual([2, 3])
  expect(order(2, 0.4)).toEqual([3])
  expect(order(9)).toEqual([3, 2])
})

test('an offer without room for the requested disk is skipped', () => {
  const [, second, third] = offers
  const small = { id: 2, machineId: 20, ...second, disk: 19 }
  expect(chosen(undefined, [small, { id: 3, machineId: 30, ...third, disk: 20 }])).toBe(3)
  expect(chosen(undefined, [small])).toBeUndefined()
})

test('offers that a limit vetoes are skipped; if it vetoes all, the cheapest is returned', () => {
  const why = { code: 'held_by_limit', message: 'The credit would not last.' }
  const above = (most: number) => (price: number) => (price > most * dollar ? why : undefined)
  expect(chosen(undefined, offers, above(0.5))).toBe(2)
  expect(chosen(undefined, offers, above(0.4))).toBe(3)
  const [, dear, cheap] = offers
  const others = [dear, cheap].flatMap(one => (one ? [one] : []))
  const held = best(undefined, others, above(0.1))
  expect(held).toMatchObject({ choice: { offer: { id: 3 }, price: 0.4 * dollar }, holds: why })
})

test('an offer is bid on just above its minimum, above $32 too', () => {
  const dear = { id: 4, machineId: 40, minimumBid: 40 * dollar }
  const search = { ...someSearch, query: { ...someSearch.query, type: 'bid' as const } }
  const bidding = { ...wanted, search, request: { ...request, bid: 100 } }
  const chosen = bestOffer(bidding, [dear], {}, () => undefined)
  expect(chosen?.choice.bid).toBe(40.01)
})

test('a volume is mounted on its machine alone, and a new one where there is room for it', () => {
  const market: OfferView[] = [
    { id: 1, machineId: 10, price: 1 },
    { id: 2, machineId: 20, price: 2, volumeOffer: 7, volumeRoom: 30 },
    { id: 3, machineId: 30, price: 3, volumeOffer: 8, volumeRoom: 80 },
  ]
  const fitting = (volume: OpenRequest['volume']) =>
    goodEnough(market, someSearch, { disk: 20, volume }, {}).map(({ offer }) => offer.id)
  expect(fitting({ create: false, volume: 99, machine: 20, mountPath: '/data' })).toEqual([2])
  expect(fitting({ create: true, size: 50, mountPath: '/data' })).toEqual([3])
  expect(fitting({ create: true, size: 30, mountPath: '/data' })).toEqual([2, 3])
  expect(fitting(undefined)).toEqual([1, 2, 3])
})
