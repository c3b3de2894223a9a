import { describe, expect, test } from 'vitest'
import { replacesVariable } from '#core/instances/mark.ts'
import { goodEnough } from '#core/renting/next-offer.ts'
import { asGoodAs, requestAgain } from '#core/renting/replacement.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import { searchParts, searchPartWords, withoutParts } from '#shared/market/search-part.ts'
import { someRental } from './some-rental.ts'

const { request } = someRental()
const gpu = { name: 'RTX 4090', count: 2, memory: 24_564 }
const machine: OfferView = {
  id: 1,
  gpuName: 'RTX 4090',
  gpuCount: 2,
  gpuMemory: 24_564,
  price: 400_000,
  reliability: 0.991,
  verified: true,
  location: 'Sweden, SE',
  down: 800,
  disk: 100,
}
const search: SavedQuery = {
  query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 10_000 },
  filter: { regions: ['SE'], downFrom: 500, priceTo: 0.5, reliabilityFrom: 0.9 },
}

function passes(wanted: SavedQuery, change: Partial<OfferView>): boolean {
  const order = { column: 'price', descending: false } as const
  return goodEnough([{ ...machine, ...change }], { ...wanted, order }, request, {}).length === 1
}

describe('the replacement of a rental that Berth found', () => {
  const wanted = asGoodAs({ request, rental: { offer: machine, search }, gpu })

  test.each<[string, Partial<OfferView>]>([
    ['not verified', { verified: false }],
    ['less reliable, though within the filter', { reliability: 0.99 }],
    ['of an unknown reliability', { reliability: undefined as never }],
    ['another GPU', { gpuName: 'RTX 3090' }],
    ['one GPU less', { gpuCount: 1 }],
    ['the same GPU with less memory', { gpuMemory: 16_000 }],
    ['elsewhere', { location: 'Spain, ES' }],
    ['on a slower line than was asked for', { down: 400 }],
    ['dearer than was asked for', { price: 600_000 }],
    ['without room for the disk', { disk: 10 }],
  ])('is never %s', (_, change) => {
    expect(passes(wanted, {})).toBe(true)
    expect(passes(wanted, change)).toBe(false)
  })

  test('is searched for as verified', () => {
    expect(wanted.query).toMatchObject({ verifiedOnly: true, type: 'on-demand', storage: 20 })
  })

  test('may be on an unverified host only if the user rented on one', () => {
    const any = { ...search, query: { ...search.query, verifiedOnly: false } }
    const unverified = { ...machine, verified: false }
    expect(asGoodAs({ request, rental: { offer: unverified, search: any }, gpu }).query.verifiedOnly).toBe(
      false,
    )
    expect(asGoodAs({ request, rental: { offer: machine, search: any }, gpu }).query.verifiedOnly).toBe(true)
  })

  test('keeps the template’s machine filters', () => {
    const extra = { cuda_max_good: { gte: 12 } }
    const found = { ...search, query: { ...search.query, extra } }
    expect(asGoodAs({ request, rental: { offer: machine, search: found }, gpu }).query.extra).toEqual(extra)
  })
})

describe('the replacement of an instance that Berth did not rent', () => {
  test('is as verified and reliable as the record of the instance says', () => {
    const of = (verification: string) =>
      asGoodAs({ request, gpu, record: { verification, reliability2: 0.97 } })
    expect(of('verified')).toMatchObject({ query: { verifiedOnly: true }, filter: { reliabilityFrom: 0.97 } })
    expect(of('unverified')).toMatchObject({
      query: { verifiedOnly: false },
      filter: { reliabilityFrom: 0.97 },
    })
  })

  test('is verified if nothing is known of the instance', () => {
    expect(asGoodAs({ request, gpu }).query.verifiedOnly).toBe(true)
  })
})

test('the requirements are listed in words, and each can be dropped', () => {
  const wanted = asGoodAs({ request, rental: { offer: machine, search }, gpu })
  const words = searchParts(wanted).map(part => searchPartWords(wanted, part))
  expect(words).toEqual([
    'a verified host',
    'RTX 4090',
    '2 GPUs',
    'at least 24 GB per GPU',
    'at least 0.5 Gb/s of download',
    'at least 99.1% reliable',
    'in Sweden',
    'at most $0.500/h',
  ])
  const loose = withoutParts(wanted, ['verified', 'reliability'])
  expect(passes(loose, { verified: false, reliability: 0.8 })).toBe(true)
  expect(passes(loose, { verified: false, reliability: 0.8, location: 'Spain, ES' })).toBe(false)
  expect(searchParts(withoutParts(wanted, searchParts(wanted)))).toEqual([])
})

test('a repeated request replaces no instance', () => {
  const own = { name: 'MODE', value: 'train', secret: false }
  const env = [own, { name: replacesVariable, value: '4711', secret: false }]
  const rental = someRental({ request: { ...request, env } })
  expect(requestAgain({ rental, offer: { id: 7 } })).toEqual({ ...request, env: [own] })
  expect(requestAgain({ rental, offer: { id: 7 }, bid: 0.2 })).toEqual({ ...request, env: [own], bid: 0.2 })
})
