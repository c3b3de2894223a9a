import { expect, test } from 'vitest'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offersPassing } from '#shared/market/filter.ts'
import type { OfferFilter } from '#shared/market/offer-query.ts'
import { countryName, placeWords, worldRegions } from '#shared/market/place.ts'
import { readSearch } from '#shared/market/search-text.ts'
import { offer } from '#test/unit/renderer/offers/listed.ts'

const { offers } = catalogueOf(
  [
    offer({ id: 3911, gpuCount: 8, machineId: 15_216, hostId: 56_477, location: 'Stockholm, SE' }),
    offer({ id: 3912, gpuCount: 18, gpuName: 'RTX 4090', gpuMemory: 24_564, location: 'Texas, US' }),
    offer({ id: 3913, gpuCount: 1, gpuName: 'H200', gpuMemory: 184_320, location: 'Norway, NO' }),
  ],
  'on-demand',
)
const found = (text: string) => offersPassing(offers, { text }).map(({ offer }) => offer.id)

test.each([
  ['8 × H100', [3911]],
  ['8x h100', [3911]],
  ['8xH100', [3911]],
  ['8 x H100 SXM', [3911]],
  ['80gb', [3911]],
  ['80 GB, 8×', [3911]],
  ['15216', [3911]],
  ['#15216', [3911]],
  ['56477', [3911]],
  ['sweden', [3911]],
  ['united states', [3912]],
  ['europe', [3911, 3913]],
  ['h100 eu', [3911]],
  ['4090 north america', [3912]],
  ['rtx4090', [3912]],
  ['H100 norway', []],
  ['H100*', []],
  ['((', []],
])('“%s” finds the offers that show it', (text, ids) => {
  expect(found(text)).toEqual(ids)
})

test.each<[string, OfferFilter, string[]]>([
  ['4090 $0.40', { priceTo: 0.4 }, ['4090']],
  ['< $0.40/h', { priceTo: 0.4 }, []],
  ['<=1.5 h100', { priceTo: 1.5 }, ['h100']],
  ['0.4$ .5/h', { priceTo: 0.5 }, []],
  ['europe 24 GB+ 4 Gb/s', { memoryFrom: 24, downFrom: 4000 }, ['europe']],
  ['≥ 48gb, 500 Mbps, 99.5%', { memoryFrom: 48, downFrom: 500, reliabilityFrom: 0.995 }, []],
  ['24 GB', {}, ['24gb']],
  ['$ < $0. > 0% 120% 1.2.3gb+', {}, []],
  ['8x H100 SXM', {}, ['8×', 'h100', 'sxm']],
])('“%s” is read as bounds and words', (text, filter, words) => {
  expect(readSearch(text)).toEqual({ filter, words })
})

test('a bound in the text holds beside the filter and the words, however it is typed', () => {
  expect(found('h100 <$100')).toEqual(found('h100'))
  expect(found('<$0.01')).toEqual([])
  expect(offersPassing(offers, { text: '100 gb+', memoryFrom: 24 }).map(({ offer }) => offer.id)).toEqual([
    3913,
  ])
  expect(offersPassing(offers, { text: '24 gb+', memoryFrom: 100 }).map(({ offer }) => offer.id)).toEqual([
    3913,
  ])
})

const countriesOf = (name: string) => worldRegions.find(region => region.name === name)?.countries ?? []

test('all countries of a region show its name, others their own', () => {
  expect(placeWords([...countriesOf('Europe'), 'JP'])).toEqual(['Europe', 'Japan'])
  expect(placeWords([...countriesOf('European Union'), 'CH'])).toEqual(['European Union', 'Switzerland'])
  expect(placeWords(['DE', 'FR'])).toEqual(['Germany', 'France'])
  expect(placeWords([])).toEqual([])
})

test('each part has countries that there are, each once, and the Union is in Europe', () => {
  for (const { countries } of worldRegions) {
    expect(new Set(countries).size).toBe(countries.length)
    for (const code of countries) expect(countryName(code)).not.toBe(code)
  }
  const europe = new Set(countriesOf('Europe'))
  expect(countriesOf('European Union').every(code => europe.has(code))).toBe(true)
  expect(countriesOf('European Union')).toHaveLength(27)
})
