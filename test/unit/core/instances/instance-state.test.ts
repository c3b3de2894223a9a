import { expect, test } from 'vitest'
import { instanceState, type Standing } from '../../../../electron/core/instances/instance-state.ts'

const state = (actualStatus: string | null, more: Partial<Standing> = {}) =>
  instanceState({ actualStatus, interruptible: false, ...more })

test.each([
  [null, 'provisioning'],
  ['created', 'provisioning'],
  ['loading', 'loading'],
  ['running', 'running'],
  ['stopping', 'stopping'],
  ['stopped', 'stopped'],
  ['exited', 'crashed'],
  ['unknown', 'silent'],
  ['offline', 'offline'],
  ['frozen', 'other'],
  ['rebooting', 'other'],
  ['', 'other'],
  ['constructor', 'other'],
])('%s alone is %s', (status, wanted) => {
  expect(state(status)).toBe(wanted)
})

test('an interruptible instance that stopped below the lowest bid was outbid', () => {
  const bidding = { interruptible: true, intendedStatus: 'running', bid: 0.2, minimumBid: 0.25 }
  expect(state('stopped', bidding)).toBe('outbid')
  expect(state(null, bidding)).toBe('outbid')
  expect(state('stopped', { ...bidding, bid: 0.25 })).toBe('provisioning')
  expect(state('stopped', { ...bidding, intendedStatus: 'stopped' })).toBe('stopped')
  expect(state('stopped', { ...bidding, interruptible: false })).toBe('provisioning')
  expect(state('stopped', { interruptible: true, intendedStatus: 'running' })).toBe('provisioning')
})

test('an instance told to stop is stopping until it has, and an exit it was told to is no crash', () => {
  const stopping = { intendedStatus: 'stopped' }
  expect(state('running', stopping)).toBe('stopping')
  expect(state('loading', stopping)).toBe('stopping')
  expect(state('exited', stopping)).toBe('stopped')
  expect(state('offline', stopping)).toBe('offline')
})
