import * as v from 'valibot'
import { expect, test } from 'vitest'
import { findOffers, searchNarrowed, textMeaning } from '#core/market/find-offers.ts'
import { offerView } from '#core/market/offer-view.ts'
import type { Offer, OfferSearch } from '#service/offers.ts'
import { ServiceError } from '#service/service-error.ts'
import { ExtraFilters, type OfferQuery } from '#shared/market/offer-query.ts'

const query: OfferQuery = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10_000 }

/** A market of `many` offers with rising prices that lists `cap` of them at a time. */
function market(many: number, cap: number, refuses = false) {
  const offers = Array.from({ length: many }, (_, at) => ({
    id: at + 1,
    dph_total: at + 1,
    gpu_name: at >= many / 2 ? 'H100' : 'RTX 3060',
  })) as Offer[]
  const asked: OfferSearch[] = []
  const service = {
    async search(search: OfferSearch): Promise<Offer[]> {
      asked.push(search)
      const { eq, in: some = eq === undefined ? undefined : [eq] } = search.filters?.gpu_name ?? {}
      if (some && refuses)
        throw new ServiceError({
          code: 'invalid_args',
          status: 400,
          message: '',
          advice: '',
          ambiguous: false,
        })
      const found = offers.filter(({ gpu_name }) => !some || some.includes(gpu_name ?? ''))
      if (search.order?.[0]?.[1] === 'desc') found.reverse()
      return found.slice(0, cap)
    },
  }
  return { service, asked }
}

const ids = (offers: readonly { id: number }[]) => offers.map(({ id }) => id)

test('a truncated list gives its cap, and includes the most expensive and requested offers', async () => {
  const { service } = market(1000, 64)
  const found = await findOffers(service, query, { gpus: ['H100'] })
  expect(found.cap).toBe(64)
  const listed = ids(found.offers)
  expect(listed.slice(0, 65)).toEqual([...Array.from({ length: 64 }, (_, at) => at + 1), 501])
  expect(listed).toContain(564)
  expect(listed.at(-1)).toBe(1000)
  expect(new Set(listed).size).toBe(3 * 64)
})

test('a text is sent to the service as names that a GPU may have', async () => {
  const { service, asked } = market(1000, 64)
  await findOffers(service, query, { text: 'a40' })
  expect(asked.at(-1)?.filters?.gpu_name).toEqual({ in: ['A40', 'RTX A40'] })
})

test('a part of the world is sent to the service as its countries', () => {
  const { conditions, rest } = textMeaning('4090 EU')
  expect(conditions['geolocation']?.in).toEqual(expect.arrayContaining(['DE', 'SE']))
  expect(conditions['geolocation']?.in).not.toContain('NO')
  expect(rest).toEqual(['4090'])
})

test('bounds in a text are sent to the service like those of the filter, the stricter one', async () => {
  const { service, asked } = market(1000, 64)
  await findOffers(service, query, { text: 'eu <$0.40 4 Gb/s', priceTo: 2 })
  expect(asked.at(-1)?.filters).toMatchObject({ dph_total: { lte: 0.4 }, inet_down: { gte: 4000 } })
  expect(asked.at(-1)?.filters?.gpu_name).toBeUndefined()
})

test('a text too long for a GPU’s name makes no long request', async () => {
  const { service, asked } = market(1000, 64)
  await findOffers(service, query, { text: 'a40 '.repeat(50) })
  expect(asked.at(-1)?.filters?.gpu_name).toBeUndefined()
})

test('a complete list is read once, and one of a doubtful length twice', async () => {
  const whole = market(70, 10_000)
  expect(await findOffers(whole.service, query, {})).not.toHaveProperty('cap', expect.anything())
  expect(whole.asked).toHaveLength(1)
  const doubtful = market(64, 10_000)
  const found = await findOffers(doubtful.service, query, {})
  expect(found).not.toHaveProperty('cap', expect.anything())
  expect(found.offers).toHaveLength(64)
  expect(doubtful.asked).toHaveLength(2)
})

test('a filter that the service refuses is left out of the search', async () => {
  const { service } = market(1000, 64, true)
  expect(await searchNarrowed(service, query, { gpus: ['H100'] })).toHaveLength(64)
  expect((await findOffers(service, query, { gpus: ['H100'] })).cap).toBe(64)
})

test('the service gets all conditions of a filter that it can apply', async () => {
  const { service, asked } = market(10, 64)
  const filter = { gpus: ['H100', 'A100'], countFrom: 2, priceTo: 1.5, regions: ['SE'], text: 'sweden' }
  await searchNarrowed(service, query, filter)
  await searchNarrowed(service, { ...query, type: 'bid' }, { ...filter, regions: ['Moon base'] })
  const narrowed = {
    rentable: { eq: true },
    rented: { eq: false },
    gpu_name: { in: ['H100', 'A100'] },
    num_gpus: { gte: 2 },
  }
  expect(asked[0]?.filters).toEqual({
    ...narrowed,
    dph_total: { lte: 1.5 },
    geolocation: { in: ['SE'] },
  })
  expect(asked.at(-1)?.filters).toEqual({ ...narrowed, min_bid: { lte: 1.5 } })
})

test('the query’s own conditions on a field hold beside the filter’s', async () => {
  const { service, asked } = market(10, 64)
  const extra = { num_gpus: { lt: 9 }, gpu_ram: { gte: 90_000 } }
  await searchNarrowed(service, { ...query, extra }, { countFrom: 2, memoryFrom: 80 })
  expect(asked[0]?.filters).toMatchObject({ num_gpus: { gte: 2, lt: 9 }, gpu_ram: { gte: 90_000 } })
})

test('if a country code finds nothing, the search is repeated without it', async () => {
  const { service, asked } = market(10, 64)
  const comparing = {
    search: async (search: OfferSearch) => {
      const offers = await service.search(search)
      return search.filters?.geolocation ? [] : offers
    },
  }
  expect(await searchNarrowed(comparing, query, { gpus: ['H100'], regions: ['SE'] })).toHaveLength(5)
  expect(asked.at(-1)?.filters).toMatchObject({ gpu_name: { eq: 'H100' } })
})

test('an offer shows no price that cannot be, and no text that turns or colours others', () => {
  const view = offerView({
    id: 1,
    dph_total: -0.1,
    min_bid: 1e9,
    gpu_name: '\u001b[31mH100',
    geolocation: '\u202eSE ',
  })
  expect(view).toMatchObject({ gpuName: 'H100', location: 'SE' })
  expect([view.price, view.minimumBid]).toEqual([undefined, undefined])
  expect(offerView({ id: 1, gpu_name: 'x'.repeat(5000) }).gpuName).toHaveLength(500)
})

test('accepts a filter for non-null values', () => {
  expect(v.is(ExtraFilters, { cluster_id: { neq: null } })).toBe(true)
})

test('known parts of a text become conditions, and the rest is left', () => {
  expect(textMeaning('8 × H100 80 GB, Sweden')).toEqual({
    conditions: {
      num_gpus: { eq: 8 },
      gpu_ram: { gte: 79.5 * 1024, lt: 80.5 * 1024 },
      geolocation: { in: ['SE'] },
    },
    rest: ['h100'],
  })
  expect(textMeaning('#15216')).toEqual({ conditions: { machine_id: { eq: 15_216 } }, rest: [] })
})

test('a GPU’s number is not a machine, and part of a word is not a country', () => {
  expect(textMeaning('rtx 4090')).toEqual({ conditions: {}, rest: ['rtx', '4090'] })
  expect(textMeaning('swedenborg')).toEqual({ conditions: {}, rest: ['swedenborg'] })
})

test('the longer of two matching country names counts', () => {
  expect(textMeaning('south sudan').conditions).toEqual({ geolocation: { in: ['SS'] } })
})
