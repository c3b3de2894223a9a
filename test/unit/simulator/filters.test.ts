import { expect, test } from 'vitest'
import type { JsonObject } from '#simulator/fields.ts'
import { type FieldType, readFilters } from '#simulator/world/market/filters.ts'

const fields = new Map<string, FieldType>([
  ['price', 'number'],
  ['name', 'string'],
  ['verified', 'boolean'],
])

type Row = { price: number; name: string; verified: boolean }
const rows: Row[] = [1, 2, 3].map(price => ({ price, name: `n${price}`, verified: price > 1 }))

function found(filters: JsonObject): number[] {
  const conditions = readFilters(filters, fields)
  return rows
    .filter(row => conditions.every(({ field, test }) => test(row[field as keyof Row])))
    .map(row => row.price)
}

test('each operator does what its name says', () => {
  expect(found({ price: { eq: 2 } })).toEqual([2])
  expect(found({ price: { neq: 2 } })).toEqual([1, 3])
  expect(found({ price: { lt: 2 } })).toEqual([1])
  expect(found({ price: { lte: 2 } })).toEqual([1, 2])
  expect(found({ price: { gt: 2 } })).toEqual([3])
  expect(found({ price: { gte: 2 } })).toEqual([2, 3])
  expect(found({ price: { in: [1, 3, 9] } })).toEqual([1, 3])
  expect(found({ price: { notin: [1, 3] } })).toEqual([2])
  expect(found({ price: { gte: 2, lt: 3 }, verified: { eq: true }, name: { neq: 'n9' } })).toEqual([2])
})

const refused: JsonObject[] = [
  { nothing: { eq: 1 } },
  { price: { like: 1 } },
  { price: { constructor: 1 } },
  { price: { eq: '1' } },
  { price: { in: 1 } },
  { price: { in: [1, 'a'] } },
  { price: 1 },
  { price: null },
  { price: [1] },
  { verified: { eq: 'true' } },
  { name: { lt: 3 } },
]

test.each(refused)('%j is refused', filters => {
  expect(() => readFilters(filters, fields)).toThrowError(expect.objectContaining({ status: 400 }))
})
