import { expect, test } from 'vitest'
import { typedNumber } from '#renderer/components/fields/readForm.ts'
import { searchName } from '#renderer/screens/offers/filters/saved.ts'
import { countryName, countryOf, placeName } from '#shared/market/place.ts'

test('numbers are read with their units, and unclear ones refused', () => {
  expect(['$1.72/h', '1,200.5', ' 40 GB', '.5'].map(text => typedNumber(text))).toEqual([
    1.72, 1200.5, 40, 0.5,
  ])
  expect(typedNumber('  ')).toBeUndefined()
  expect(['1e3', 'Infinity', '0x10', '1 2', '1,2,3', '1,20.5'].map(typedNumber)).toEqual(
    Array(6).fill(Number.NaN),
  )
  expect(['0,31', '$1,5/h', '0,500', ',5', '-2,25', '1,200'].map(typedNumber)).toEqual([
    0.31, 1.5, 0.5, 0.5, -2.25, 1200,
  ])
})

test('a place is shown without repeating its country', () => {
  expect(['Sweden, SE', 'Texas, US', 'SE', 'Moon base'].map(placeName)).toEqual([
    'Sweden',
    'Texas, US',
    'Sweden',
    'Moon base',
  ])
  expect(
    ['Quebec, CA', 'California, United States', 'Sweden', 'London, United Kingdom'].map(countryOf),
  ).toEqual(['CA', 'US', 'SE', 'GB'])
  expect(['California, United States', 'Sweden'].map(placeName)).toEqual(['California, US', 'Sweden'])
  expect(countryName('QX')).toBe('QX')
})

test('a search is named after its criteria', () => {
  const query = { type: 'bid' as const, verifiedOnly: true, storage: 20, limit: 10_000 }
  const filter = { gpus: ['H100 SXM', 'H100 NVL'], countFrom: 2, countTo: 2, priceTo: 3, regions: ['SE'] }
  expect(searchName({ query, filter })).toBe('2 × H100 SXM, H100 NVL up to $3.000/h, Sweden, interruptible')
  expect(searchName({ query: { ...query, type: 'on-demand' }, filter: {} })).toBe('Any GPU')
  const onDemand = { ...query, type: 'on-demand' as const }
  expect(
    searchName({
      query: onDemand,
      filter: { countFrom: 8, memoryFrom: 48, reliabilityFrom: 0.99, staticIp: true },
    }),
  ).toBe('8+ × Any GPU, VRAM 48 GB+, Reliability 99%+, Static IP')
  expect(searchName({ query: onDemand, filter: { memoryFrom: 24, memoryTo: 24 } })).toBe(
    'Any GPU, VRAM 24 GB',
  )
  expect(
    searchName({ query: onDemand, filter: { gpus: ['H100 SXM', 'H200', 'RTX 4090'], text: 'epyc' } }),
  ).toBe('H100 SXM, H200, RTX 4090, epyc')
})
