import { expect, test } from 'vitest'
import { offerView } from '#core/market/offer-view.ts'
import type { Offer } from '#service/offers.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import { type FurtherPart, furtherConditions, furtherParts } from '#shared/market/further-filters.ts'
import { OfferFilter } from '#shared/market/offer-query.ts'
import { type Row, readLooseFilters } from '#simulator/routes/filters.ts'

/** Each filter, with what barely passes and barely fails, in the service’s fields. */
const table: Record<FurtherPart, [OfferFilter, passes: Partial<Offer>, fails: Partial<Offer>]> = {
  memory: [{ memoryFrom: 24 }, { gpu_ram: 23_101 }, { gpu_ram: 23_100 }],
  reliability: [{ reliabilityFrom: 0.99 }, { reliability2: 0.99 }, { reliability2: 0.9899 }],
  disk: [{ diskFrom: 100 }, { disk_space: 100 }, { disk_space: 99.9 }],
  ram: [{ ramFrom: 64 }, { cpu_ram: 61_603 }, { cpu_ram: 61_602 }],
  down: [{ downFrom: 500 }, { inet_down: 500 }, { inet_down: 499.9 }],
  up: [{ upFrom: 500 }, { inet_up: 500 }, { inet_up: 499.9 }],
  cuda: [{ cudaFrom: 12.4 }, { cuda_max_good: 12.4 }, { cuda_max_good: 12.2 }],
  duration: [{ daysFrom: 7 }, { duration: 604_800 }, { duration: 604_799 }],
  ports: [{ portsFrom: 4 }, { direct_port_count: 4 }, { direct_port_count: 3 }],
  staticIp: [{ staticIp: true }, { static_ip: true }, { static_ip: false }],
  datacenter: [{ datacenter: true }, { datacenter: true }, { datacenter: false }],
}

test.each(furtherParts)('%s: Berth and the service pass and hold back the same offers', part => {
  const [filter, passes, fails] = table[part]
  expect(Object.keys(OfferFilter.entries)).toEqual(expect.arrayContaining(Object.keys(filter)))
  const service = readLooseFilters(furtherConditions(filter, false), () => true)
  const isListed = (fields: Partial<Offer>) => {
    const { offers } = catalogueOf([offerView({ id: 1, ...fields })], 'on-demand')
    return offersPassing(offers, filter).length === 1
  }
  expect([isListed(passes), service(passes as Row)]).toEqual([true, true])
  expect([isListed(fails), service(fails as Row)]).toEqual([false, false])
  expect([isListed({}), service({})]).toEqual([false, false])
})

test('a minimum that is also a maximum passes what is shown as exactly that', () => {
  const filter = { memoryFrom: 24, memoryTo: 24 }
  const service = readLooseFilters(furtherConditions(filter, true), () => true)
  const isListed = (gpu_ram: number) =>
    offersPassing(catalogueOf([offerView({ id: 1, gpu_ram })], 'on-demand').offers, filter).length === 1
  for (const [megabytes, passes] of [
    [23_100, false],
    [24_564, true],
    [24_576, true],
    [25_088, false],
    [32_768, false],
  ] as const)
    expect([isListed(megabytes), service({ gpu_ram: megabytes })], `${megabytes} MB`).toEqual([
      passes,
      passes,
    ])
})

test('after a refusal only conditions that every deployment knows are sent', () => {
  expect(furtherConditions({ datacenter: true, staticIp: true }, true)).toEqual({ static_ip: { eq: true } })
})
