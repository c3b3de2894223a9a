import { describe, expect, test } from 'vitest'
import { catalogueOf } from '#shared/market/catalogue.ts'
import {
  activeParts,
  filterWithout,
  gpuChoices,
  loosenings,
  offersPassing,
  regionChoices,
  withValues,
} from '#shared/market/filter.ts'
import type { OfferFilter } from '#shared/market/offer-query.ts'
import { offer } from '#test/unit/renderer/offers/listed.ts'

const market = catalogueOf(
  [
    offer({ id: 1 }),
    offer({ id: 2, gpuName: 'RTX 4090', gpuMemory: 24_564, price: 400_000, location: 'Texas, US' }),
    offer({
      id: 3,
      gpuName: 'RTX 4090',
      gpuMemory: 24_564,
      gpuCount: 8,
      price: 3_000_000,
      location: 'Utah, US',
    }),
    { id: 4 },
  ],
  'on-demand',
).offers

const ids = (filter: OfferFilter) => offersPassing(market, filter).map(({ offer }) => offer.id)

describe('filtering offers', () => {
  test('an empty filter passes every offer, also those with unknown facts', () => {
    expect(ids({})).toEqual([1, 2, 3, 4])
  })

  test.each<[string, OfferFilter, number[]]>([
    ['GPU', { gpus: ['RTX 4090'] }, [2, 3]],
    ['count', { countFrom: 2, countTo: 8 }, [3]],
    ['one count', { countFrom: 1, countTo: 1 }, [1, 2]],
    ['price', { priceTo: 2 }, [1, 2]],
    ['country', { regions: ['US'] }, [2, 3]],
    ['reliability', { reliabilityFrom: 0.99 }, [1, 2, 3]],
    ['free text, every word of it', { text: ' 4090  TEXAS ' }, [2]],
    ['the id as text', { text: '3' }, [3]],
  ])('by %s; an offer that does not name it does not pass', (_, filter, expected) => {
    expect(ids(filter).filter(id => filter.text === '3' || id !== 4)).toEqual(expected)
    if (filter.text !== '3') expect(ids(filter)).not.toContain(4)
  })

  test('80 GB and 24 GB cards pass as such, though their MB are not round', () => {
    expect(ids({ memoryFrom: 80 })).toEqual([1])
    expect(ids({ memoryFrom: 24 })).toEqual([1, 2, 3])
    expect(ids({ memoryFrom: 32 })).toEqual([1])
  })

  test('an interruptible offer is filtered by its lowest bid with storage', () => {
    const bids = catalogueOf([offer({ id: 1, minimumBid: 1_000_000, storagePrice: 10_000 })], 'bid').offers
    expect(offersPassing(bids, { priceTo: 1.01 })).toHaveLength(1)
    expect(offersPassing(bids, { priceTo: 1 })).toHaveLength(0)
  })
})

describe('when no offer passes', () => {
  test('the parts to clear are given, the one that brings most back first', () => {
    expect(loosenings(market, { gpus: ['RTX 4090'], regions: ['SE'] })).toMatchObject([
      { part: 'regions', count: 2 },
      { part: 'gpus', count: 1 },
    ])
  })

  test('of a text, the words are given whose absence is enough, and else all of it', () => {
    expect(loosenings(market, { text: '4090 texas $0.10' })).toEqual([
      { part: 'text', word: '$0.10', filter: { text: '4090 texas' }, count: 1 },
    ])
    const all = loosenings(market, { text: 'nowhere $0.10', gpus: ['RTX 4090'] })
    expect(all).toEqual([{ part: 'text', filter: { gpus: ['RTX 4090'] }, count: 2 }])
  })

  test('a part that alone brings nothing back is not given', () => {
    expect(loosenings(market, { gpus: ['RTX 4090'], regions: ['SE'], text: 'nowhere' })).toEqual([])
  })
})

test('clearing a part removes both its ends and keeps the others', () => {
  expect(filterWithout({ countFrom: 1, countTo: 2, priceTo: 3 }, 'count')).toEqual({ priceTo: 3 })
  expect(activeParts(withValues({ gpus: ['A'], text: 'x' }, { gpus: [], text: '' }))).toEqual([])
})

test('each choice counts its offers under the rest of the filter', () => {
  expect(gpuChoices(market, { priceTo: 2, gpus: ['RTX 4090'] })).toEqual([
    { value: 'H100 SXM', count: 1 },
    { value: 'RTX 4090', count: 1 },
  ])
  expect(regionChoices(market, {})).toEqual([
    { value: 'SE', count: 1 },
    { value: 'US', count: 2 },
  ])
})

test('countries are sorted by name, not by code', () => {
  const places = ['Spain, ES', 'Germany, DE', 'Brazil, BR', 'Bulgaria, BG', 'Moon base']
  const { offers } = catalogueOf(
    places.map((location, id) => offer({ id: id + 1, location })),
    'on-demand',
  )
  expect(regionChoices(offers, {}).map(({ value }) => value)).toEqual(['BR', 'BG', 'DE', 'Moon base', 'ES'])
})

test('a choice from a saved search stays listed when the market has none', () => {
  expect(gpuChoices(market, { gpus: ['B300'] })).toContainEqual({ value: 'B300', count: 0 })
})
