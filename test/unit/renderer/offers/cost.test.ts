import { expect, test } from 'vitest'
import { firstHours, rentalCost, trafficOnce } from '#renderer/features/market/cost.ts'
import { creditWouldLast } from '#shared/spending/beyond-credit.ts'
import { offer } from './listed.ts'

test('the price swaps the included storage for the wanted storage', () => {
  const machine = offer({ id: 1, price: 2_010_000, storagePrice: 10_000 })
  expect(rentalCost(machine, 20, 20, undefined)).toEqual({ perHour: 2_010_000, diskPerHour: 10_000 })
  expect(rentalCost(machine, 20, 200, undefined)).toEqual({ perHour: 2_100_000, diskPerHour: 100_000 })
})

test('an interruptible rental costs its bid and its disk', () => {
  const machine = offer({ id: 1, storagePrice: 10_000 })
  expect(rentalCost(machine, 20, 40, 0.31)).toEqual({ perHour: 330_000, diskPerHour: 20_000 })
})

test('without a price there is no cost, without a storage price no disk cost', () => {
  const { price: _, ...unpriced } = offer({ id: 1 })
  expect(rentalCost(unpriced, 20, 20, undefined)).toBeUndefined()
  const { storagePrice: __, ...plain } = offer({ id: 1, price: 2_000_000 })
  expect(rentalCost(plain, 20, 500, undefined)).toEqual({ perHour: 2_000_000, diskPerHour: undefined })
})

test('the credit duration includes running instances', () => {
  expect(creditWouldLast(10_000_000, 1_000_000, 1_000_000)).toBe(5 * 3600)
  expect(creditWouldLast(undefined, 0, 1)).toBeUndefined()
  expect(creditWouldLast(-5, 0, 1)).toBe(0)
})

test('a storage price per GB and month is spread over 720 hours', () => {
  const machine = offer({ id: 1, price: 2_010_000, storagePrice: 10_000, storageCost: 0.36 })
  expect(rentalCost(machine, 20, 200, undefined)).toEqual({ perHour: 2_100_000, diskPerHour: 100_000 })
})

test('the first hours sum GPU, disk and one-time traffic at the higher price', () => {
  const cost = { perHour: 2_100_000, diskPerHour: 100_000 }
  const traffic = { downCost: 0.01, upCost: 0.02 }
  expect(firstHours(cost, 24, trafficOnce(traffic, 50))).toEqual({
    gpus: 48_000_000,
    disk: 2_400_000,
    traffic: 1_000_000,
    total: 51_400_000,
  })
  // By default 20 GB down and 2 GB up, each at its own price.
  expect(trafficOnce({ downCost: 0.002, upCost: 0.004 }, undefined)).toBe(48_000)
  expect(firstHours(cost, 24, trafficOnce({}, 50))).toMatchObject({ traffic: undefined, total: 50_400_000 })
})
