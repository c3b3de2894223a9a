import { expect, test } from 'vitest'
import { startsAtLogin } from '#platform/autostart.ts'
import { watchNetwork } from '#platform/network-watch.ts'
import { activatedId, groupOf } from '#platform/notice-ids.ts'
import { HandClock } from '#test/berth/clocks.ts'

test.each([
  ['win32', true, true, true],
  ['win32', true, false, false],
  ['win32', false, true, false],
  ['darwin', true, false, true],
  ['darwin', false, false, false],
] as const)(
  'autostart switched off in Windows’ Task Manager is off (%s, %s, %s)',
  (platform, openAtLogin, will, on) => {
    expect(startsAtLogin({ openAtLogin, executableWillLaunchAtLogin: will }, platform)).toBe(on)
  },
)

test('the notices of an instance share a group', () => {
  expect(groupOf('a00000001/4711')).toBe('a00000001/4711')
  expect(groupOf('a00000001/4711/limit/g1')).toBe('a00000001/4711')
  expect(groupOf('pause')).toBe('pause')
})

test.each([
  ['type=click&tag=a00000001/4711', 'a00000001/4711'],
  ['type=action&action=0&tag=a00000001%2F4711', 'a00000001/4711'],
  ['type=click', undefined],
  ['', undefined],
])('the activation %s is of the notice %s', (text, id) => expect(activatedId(text)).toBe(id))

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
