import { expect, test } from 'vitest'
import { firstBid } from '#contract/automation/bid.ts'

test('the first bid is a step above the lowest bid, and at most $128', () => {
  expect(firstBid(300_000)).toBe(0.31)
  expect(firstBid(10_000)).toBe(0.011)
  expect(firstBid(undefined)).toBe(0.001)
  expect(firstBid(40_000_000)).toBe(40.01)
  expect(firstBid(127_999_000)).toBe(128)
  expect(firstBid(200_000_000)).toBe(128)
})
