import { expect, test } from 'vitest'
import { watchNetwork } from '../../../electron/local/network-watch.ts'
import { HandClock } from '../core/hand-clock.ts'

test('another network is looked through at once; none, and the same one, are not', async () => {
  const clock = new HandClock()
  let addresses = 'wlan0 192.0.2.1'
  let looks = 0
  const end = watchNetwork(
    clock,
    () => looks++,
    () => addresses,
  )
  await clock.pass(60_000)
  expect(looks).toBe(0)
  addresses = ''
  await clock.pass(60_000)
  expect(looks).toBe(0)
  addresses = 'wlan0 198.51.100.7'
  await clock.pass(5_000)
  expect(looks).toBe(1)
  await clock.pass(60_000)
  expect(looks).toBe(1)
  end()
  addresses = 'wlan0 192.0.2.9'
  await clock.pass(60_000)
  expect(looks).toBe(1)
})

test('a machine that slept looks on waking', async () => {
  const clock = new HandClock()
  let looks = 0
  const end = watchNetwork(
    clock,
    () => looks++,
    () => 'same',
  )
  await clock.pass(5_000)
  clock.wall += 3_600_000
  await clock.pass(5_000)
  expect(looks).toBe(1)
  end()
})
