import { expect, test } from 'vitest'
import {
  type StoredWatchdog,
  tickOf,
  visitEvery,
} from '../../../../../electron/core/guards/watchdog/model.ts'

const watchdog: StoredWatchdog = {
  instance: 4711,
  request: { action: 'stop', at: 5000, lease: 600 },
  step: 'watching',
  foreign: false,
  renewedAt: 4000,
}
test('a lease outlives three visits that fail, and its watchdog checks often enough to see it lapse', () => {
  for (const lease of [10, 60, 600, 7200]) {
    const request = { action: 'stop', lease } as const
    expect(visitEvery({ ...watchdog, request }) * 3).toBeLessThan(lease)
    expect(tickOf(request)).toBeLessThanOrEqual(Math.max(1, lease / 4))
  }
  expect(visitEvery({ ...watchdog, foreign: true })).toBe(300)
})
