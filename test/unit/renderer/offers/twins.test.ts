import { expect, test } from 'vitest'
import { Twins } from '#renderer/screens/offers/table/twins.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { offer } from './listed.ts'

const { offers } = catalogueOf(
  [
    offer({ id: 1, hostId: 7, machineId: 70, price: 2_000_000 }),
    offer({ id: 2, hostId: 8, machineId: 80, price: 2_000_000 }),
    offer({ id: 3, hostId: 7, machineId: 71, price: 2_020_000 }),
    offer({ id: 4, hostId: 7, machineId: 72, price: 2_400_000 }),
    offer({ id: 5, hostId: 7, machineId: 73, price: 2_010_000, cuda: 12.4 }),
    offer({ id: 6, hostId: 7, machineId: 74, price: 1_990_000 }),
  ],
  'on-demand',
)
const twins = new Twins({ offers })
const groups = (open: number[] = []) => twins.grouped([...offers.keys()], new Set(open))
const ids = (open: number[] = []) => groups(open).rows.map(row => offers[row]?.offer.id)

test('similar offers of one host at about the same price are one row', () => {
  expect(ids()).toEqual([1, 2, 4, 5])
  expect([...offers.keys()].map(groups().othersOf)).toEqual([2, 0, 0, 0, 0, 0])
})

test('an open row is followed by its twins', () => {
  expect(ids([1])).toEqual([1, 3, 6, 2, 4, 5])
  expect(groups([1]).members).toEqual(new Set([2, 5]))
})

test('offers whose machine or price is unknown are not taken for alike', () => {
  const unknown = { gpuName: undefined, gpuMemory: undefined, price: undefined, location: undefined }
  const { offers } = catalogueOf(
    [
      { id: 1 },
      { id: 2 },
      offer({ id: 3, ...unknown }),
      offer({ id: 4, hostId: 7, price: undefined }),
      offer({ id: 5, hostId: 7, price: undefined }),
      offer({ id: 6 }),
      offer({ id: 7 }),
    ],
    'on-demand',
  )
  const rows = new Twins({ offers }).grouped([...offers.keys()], new Set()).rows
  expect(rows).toHaveLength(offers.length)
})
