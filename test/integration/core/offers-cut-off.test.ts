import { afterAll, beforeAll, expect, test } from 'vitest'
import { findOffers } from '#core/market/find-offers.ts'
import { createRecentSearches } from '#core/market/recent-searches.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type ServiceClient } from '#service/client.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OfferFilter, OfferQuery } from '#shared/market/offer-query.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'

const query: OfferQuery = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10_000 }

/** One market, listed whole and cut off as the best-known deployment does. */
let simulators: Simulator[]
let whole: ServiceClient
let cut: ServiceClient
beforeAll(async () => {
  const start = (cap: number) =>
    startSimulator({
      ...{ port: 0, seed: 7, speed: 0, offers: 500, start: Date.UTC(2026, 0, 1) },
      deployment: { ...publicProfile, limits: 'buckets', cap },
    })
  simulators = await Promise.all([start(100_000), start(publicProfile.cap)])
  const [one, other] = simulators.map(({ baseUrl, apiKey }) =>
    createClient({ baseUrl: parseBaseUrl(baseUrl), key: apiKey }),
  )
  if (!one || !other) throw new Error('not started')
  whole = one
  cut = other
})
afterAll(() => Promise.all(simulators.map(simulator => simulator.close())))

const ids = (offers: readonly OfferView[], gpu: string | undefined) =>
  offers.flatMap(({ id, gpuName }) => (gpuName === gpu ? id : []))

test('a list that the service cuts off is marked, and a filter finds hidden offers', async () => {
  const all = await findOffers(whole.offers, query, {})
  expect(all).not.toHaveProperty('cap', expect.anything())
  const some = await findOffers(cut.offers, query, {})
  expect(some.cap).toBe(64)
  expect(some.offers.at(0)?.id).toBe(all.offers.at(0)?.id)
  expect(some.offers.at(-1)?.price).toBe(all.offers.at(-1)?.price)

  const shown = new Set(some.offers.map(({ gpuName }) => gpuName))
  const hidden = all.offers.find(({ gpuName }) => !shown.has(gpuName))?.gpuName
  expect(hidden).toBeDefined()
  const looked = await findOffers(cut.offers, query, { gpus: hidden === undefined ? [] : [hidden] })
  expect(ids(looked.offers, hidden)).toEqual(ids(all.offers, hidden).slice(0, 64))
})

test('each change of a filter asks once where the service cuts its list off', async () => {
  const recent = createRecentSearches({ monotonic: () => performance.now() })
  const searches = () => simulators[1]?.controls.requests().length ?? 0
  const before = searches()
  const find = (filter: OfferFilter, type: OfferQuery['type'] = 'on-demand') =>
    findOffers(recent.market('a1', cut.offers, 60_000), { ...query, type }, filter)
  await find({ countFrom: 2 })
  await find({ countFrom: 2, gpus: ['H100 SXM'] })
  await find({ countFrom: 2, gpus: ['H100 SXM', 'A40'] })
  await find({ countFrom: 2 }, 'bid')
  const found = await find({ countFrom: 2 })
  expect(searches() - before).toBe(3 + 1 + 1 + 3)
  expect(found.cap).toBe(64)
})

test.each<[string, OfferFilter, OfferQuery['type']]>([
  ['RAM', { ramFrom: 1024 }, 'on-demand'],
  ['CUDA', { cudaFrom: 13 }, 'on-demand'],
  ['duration', { daysFrom: 110 }, 'on-demand'],
  ['direct ports', { portsFrom: 999 }, 'on-demand'],
  ['upload', { upFrom: 8000 }, 'on-demand'],
  ['a static IP', { staticIp: true }, 'on-demand'],
  ['a data center', { datacenter: true }, 'on-demand'],
  ['the country', { regions: ['BG'] }, 'on-demand'],
  ['free text with a count', { text: '8 ×' }, 'on-demand'],
  ['free text with VRAM', { text: '48gb' }, 'on-demand'],
  ['a country in free text', { text: 'bulgaria' }, 'on-demand'],
  ['the price of a bid', { gpus: ['H100 SXM'], priceTo: 40 }, 'bid'],
])('a filter by %s brings offers that the service’s cap hid', async (_, filter, type) => {
  const asked = { ...query, type }
  const matching = async (client: ServiceClient, looked: OfferFilter) => {
    const { offers } = await findOffers(client.offers, asked, looked)
    return offersPassing(catalogueOf(offers, type).offers, filter).map(({ offer }) => offer.id)
  }
  const all = await matching(whole, {})
  const found = await matching(cut, filter)
  expect(found).toEqual(expect.arrayContaining(all.slice(0, 64)))
  expect(found.length).toBeGreaterThan((await matching(cut, {})).length)
})

test('a GPU none of which is listed is found by its name, and by its model’s alone', async () => {
  const all = await findOffers(whole.offers, query, {})
  const listed = new Set((await findOffers(cut.offers, query, {})).offers.map(({ gpuName }) => gpuName))
  const hidden = [...new Set(all.offers.map(({ gpuName = '' }) => gpuName))].filter(name => !listed.has(name))
  const ofFamily = hidden.filter(name => /^RTX \d+$/.test(name))
  expect(ofFamily).not.toEqual([])
  for (const name of hidden)
    for (const text of ofFamily.includes(name) ? [name.toLowerCase(), name.slice('RTX '.length)] : [name]) {
      const { offers } = await findOffers(cut.offers, query, { text })
      expect(ids(offers, name), text).toEqual(ids(all.offers, name).slice(0, 64))
    }
})
