import { expect, test } from 'vitest'
import { type StoredWatchdog, tickOf, visitEvery } from '#core/limits/watchdog/model.ts'

const watchdog: StoredWatchdog = {
  instance: 4711,
  request: { action: 'stop', at: 5000, lease: 600 },
  step: 'watching',
  foreign: false,
  renewedAt: 4000,
}
test('a lease outlasts three failed visits, and the watchdog checks it often enough', () => {
  for (const lease of [10, 60, 600, 7200]) {
    const request = { action: 'stop', lease } as const
    expect(visitEvery({ ...watchdog, request }) * 3).toBeLessThan(lease)
    expect(tickOf(request)).toBeLessThanOrEqual(Math.max(1, lease / 4))
  }
  expect(visitEvery({ ...watchdog, foreign: true })).toBe(300)
})
