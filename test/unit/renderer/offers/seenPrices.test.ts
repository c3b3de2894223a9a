import { expect, test } from 'vitest'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { SeenPrices } from '#renderer/features/market/seenPrices.svelte.ts'
import type { OfferFilter, OfferQuery, OffersAnswer } from '#shared/market/offer-query.ts'
import { offer } from './listed.ts'

const query: OfferQuery = { type: 'on-demand', verifiedOnly: true, storage: 10, limit: 10_000 }
const filter: OfferFilter = { memoryFrom: 40 }

/** A market that lists at most so many of its offers, those with the least memory first. */
function market(cap?: number) {
  const offers = [
    offer({ id: 1, price: 200_000, gpuMemory: 12_288 }),
    offer({ id: 2, price: 7_482_000, gpuMemory: 183_000 }),
    offer({ id: 3, price: 360_000, gpuMemory: 46_068 }),
  ]
  const asked: (OfferFilter | undefined)[] = []
  const searchOffers = async ({ filter }: { filter?: OfferFilter }): Promise<OffersAnswer> => {
    asked.push(filter)
    await new Promise(setImmediate)
    const passing = cap !== undefined && filter ? offers.slice(1) : offers.slice(0, cap)
    return { offers: passing, at: 0, limited: cap !== undefined, ...(cap !== undefined && { cap }) }
  }
  const page = { account: { id: 'a' }, berth: { searchOffers } } as unknown as Page
  return { asked, seen: new SeenPrices(page) }
}

test('where the service lists only some of its offers, it’s asked for those that pass', async () => {
  const { asked, seen } = market(2)
  await seen.search(query)
  expect(seen.matching({ query, filter })).toBeUndefined()
  await seen.search(query, filter)
  expect(seen.matching({ query, filter })?.map(({ offer }) => offer.id)).toEqual([3, 2])
  expect(asked).toEqual([undefined, filter])
})

test('where it lists all, one search serves every filter', async () => {
  const { asked, seen } = market()
  await seen.search(query, filter)
  await seen.search(query, { memoryFrom: 100 })
  expect(seen.matching({ query, filter })?.map(({ offer }) => offer.id)).toEqual([3, 2])
  expect(asked).toEqual([undefined])
})

test('searches at the same time wait for the one that is under way, and each is answered', async () => {
  const { asked, seen } = market(2)
  const other: OfferFilter = { memoryFrom: 100 }
  await Promise.all([seen.search(query), seen.search(query, filter), seen.search(query, other)])
  expect(seen.matching({ query, filter })?.map(({ offer }) => offer.id)).toEqual([3, 2])
  expect(seen.matching({ query, filter: other })?.map(({ offer }) => offer.id)).toEqual([2])
  expect(asked).toEqual([undefined, filter, other])
})
