import { expect, test } from 'vitest'
import { type KeptWatchdog, likelyDeed, tickOf, visitEvery } from '../../../../electron/core/watchdog/kept.ts'
import { instanceView } from '../views.ts'

const kept: KeptWatchdog = {
  instance: 4711,
  wish: { action: 'stop', at: 5000, lease: 600 },
  step: 'watching',
  foreign: false,
  renewedAt: 4000,
}
const stopped = instanceView({ state: 'stopped' })

test('a stop is laid at the watchdog’s door only where it was due, and once', () => {
  expect(likelyDeed(kept, stopped, 4599)).toBeUndefined()
  expect(likelyDeed(kept, stopped, 4600)).toBe('lease')
  expect(likelyDeed(kept, stopped, 5000)).toBe('time')
  expect(likelyDeed(kept, undefined, 5000)).toBe('time')
  expect(likelyDeed(kept, instanceView(), 5000)).toBeUndefined()
  expect(likelyDeed({ ...kept, told: true }, stopped, 5000)).toBeUndefined()
  expect(likelyDeed({ ...kept, step: 'removing' }, stopped, 5000)).toBeUndefined()
})

test('a lease outlives three visits that fail, and its watchdog looks often enough to see it lapse', () => {
  for (const lease of [10, 60, 600, 7200]) {
    const wish = { action: 'stop', lease } as const
    expect(visitEvery({ ...kept, wish }) * 3).toBeLessThan(lease)
    expect(tickOf(wish)).toBeLessThanOrEqual(Math.max(1, lease / 4))
  }
  expect(visitEvery({ ...kept, foreign: true })).toBe(300)
})
