import { expect, test } from 'vitest'
import { firstBid } from '../../../electron/contract/automation/bid.ts'

test('a rental begins with the bid that a raise would win with, within what the service takes', () => {
  expect(firstBid(300_000)).toBe(0.31)
  expect(firstBid(10_000)).toBe(0.011)
  expect(firstBid(undefined)).toBe(0.001)
  expect(firstBid(40_000_000)).toBe(40.01)
  expect(firstBid(127_999_000)).toBe(128)
  expect(firstBid(200_000_000)).toBe(128)
})
