import { expect, test } from 'vitest'
import { recordedMoment } from '#contract/reading.ts'

const clock = { serverAt: 7_200_000, localAt: 1_000_000, rate: 20 }

test('activity of the demo has the demo’s time, all other activity this machine’s', () => {
  expect(recordedMoment({ demo: true, clock }, 1_001_000)).toBe(7_220_000)
  expect(recordedMoment({ demo: false, clock }, 1_001_000)).toBe(1_001_000)
  expect(recordedMoment(undefined, 1_001_000)).toBe(1_001_000)
})
