import { describe, expect, test } from 'vitest'
import { partWords, rentName } from '#renderer/features/market/offerWords.ts'
import { actionsWidth, offerColumnsFor } from '#renderer/screens/offers/table/columnWidths.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offerColumns } from '#shared/market/offer-columns.ts'
import { offer } from './listed.ts'

describe('columns in a narrow window', () => {
  const names = (width: number) => offerColumnsFor(width, 'price', 12).map(({ column }) => column)

  test.each([200, 400, 600, 700, 800, 1000, 2000])(
    'at %i pixels they fit, or only the two that stay are left',
    width => {
      const shown = offerColumnsFor(width, 'price', 12)
      const needed = shown.reduce((sum, column) => sum + column.width, actionsWidth)
      expect(needed <= width || shown.length === 2).toBe(true)
    },
  )

  test('GPU and price always stay', () => {
    expect(names(100)).toEqual(['gpu', 'price'])
  })

  test('the sorted column always stays', () => {
    expect(offerColumnsFor(100, 'cpu', 12).map(({ column }) => column)).toEqual(['gpu', 'price', 'cpu'])
  })

  test('a long GPU name takes room from other columns', () => {
    expect(offerColumnsFor(1150, 'price', 12)).toHaveLength(13)
    const [gpu, ...others] = offerColumnsFor(1150, 'price', 20)
    expect(gpu?.width).toBeGreaterThan(20 * 7)
    expect(others).toHaveLength(11)
  })

  test('a wider window shows no fewer columns', () => {
    for (let width = 100; width < 1500; width += 10) {
      expect(names(width + 10).length).toBeGreaterThanOrEqual(names(width).length)
    }
  })
})

describe('words', () => {
  test('the rent button names machine, price and location', () => {
    const [listed] = catalogueOf([offer({ id: 1, price: 1_719_000 })], 'on-demand').offers
    expect(listed && rentName(listed, 'Sweden')).toBe('Rent 1 × H100 SXM, $1.719/h, Sweden')
  })

  test('offers with little data differ by their numbers', () => {
    const { offers } = catalogueOf([{ id: 101 }, { id: 102 }, offer({ id: 103 })], 'on-demand')
    expect(offers.map(listed => offerColumns.gpu.cell(listed).text)).toEqual([
      '1 × unknown GPU, offer 101',
      '1 × unknown GPU, offer 102',
      '1 × H100 SXM',
    ])
    expect(offers[0] && rentName(offers[0], undefined)).toBe('Rent 1 × unknown GPU, offer 101')
  })

  test('a filter part shows its value', () => {
    expect(partWords({}, 'gpus')).toBe('any')
    expect(partWords({ gpus: ['A', 'B', 'C'] }, 'gpus')).toBe('A and 2 more')
    expect(partWords({ countFrom: 1, countTo: 2 }, 'count')).toBe('1–2')
    expect(partWords({ countTo: 2 }, 'count')).toBe('up to 2')
    expect(partWords({ reliabilityFrom: 0.985 }, 'reliability')).toBe('98.5%+')
    expect(partWords({ regions: ['SE'] }, 'regions')).toBe('Sweden')
    expect(partWords({ cudaFrom: 12.4 }, 'cuda')).toBe('12.4+')
    expect(partWords({ daysFrom: 1000 }, 'duration')).toBe('1,000 days+')
    expect(partWords({ staticIp: true }, 'staticIp')).toBe('only')
  })
})
