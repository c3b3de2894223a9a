import { expect, test } from 'vitest'

/** For `run-ends.test.ts`: what ends beside a file that does not. */
test('what passes counts', () => {
  expect([3, 1, 2].toSorted((a, b) => a - b)).toEqual([1, 2, 3])
})

test.skipIf(true)('yesterday is tried again (skipped: no time machine)', () => {
  expect(Date.now()).toBeLessThan(0)
})
