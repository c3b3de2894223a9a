import { expect, test } from 'vitest'
import { watchNetwork } from '#machine/network-watch.ts'
import { HandClock } from '#test/berth/clocks.ts'

test('a change of network polls at once; a loss or the same network does not', async () => {
  const clock = new HandClock()
  let addresses = 'wlan0 192.0.2.1'
  let polls = 0
  const end = watchNetwork(
    clock,
    () => polls++,
    () => addresses,
  )
  await clock.pass(60_000)
  expect(polls).toBe(0)
  addresses = ''
  await clock.pass(60_000)
  expect(polls).toBe(0)
  addresses = 'wlan0 198.51.100.7'
  await clock.pass(5_000)
  expect(polls).toBe(1)
  await clock.pass(60_000)
  expect(polls).toBe(1)
  end()
  addresses = 'wlan0 192.0.2.9'
  await clock.pass(60_000)
  expect(polls).toBe(1)
})

test('waking from sleep polls', async () => {
  const clock = new HandClock()
  let polls = 0
  const end = watchNetwork(
    clock,
    () => polls++,
    () => 'same',
  )
  await clock.pass(5_000)
  clock.wall += 3_600_000
  await clock.pass(5_000)
  expect(polls).toBe(1)
  end()
})
