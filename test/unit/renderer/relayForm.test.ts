import { expect, test } from 'vitest'
import {
  allKinds,
  failureLine,
  readRelay,
  relayDraft,
  relayLine,
} from '#renderer/screens/settings/relayForm.ts'
import type { RelayView } from '#shared/relay.ts'
import { relayForm } from '#test/berth/relays.ts'

const view = (given: Partial<RelayView> = {}): RelayView => ({
  ...relayForm(),
  id: 'w0000000000000001',
  waiting: 0,
  ...given,
})

test('a new address needs a name, an address and a kind of alert', () => {
  const draft = relayDraft(undefined)
  expect(readRelay(draft, true).errors).toEqual({ name: 'Enter a name.', address: 'Enter the address.' })
  expect(readRelay({ ...draft, name: 'Phone', alerts: [], address: 'x' }, true).errors).toEqual({
    alerts: 'Choose at least one kind of alert.',
  })
})

test('a relay survives the form unchanged, and its address can stay', () => {
  expect(readRelay(relayDraft(view()), false).value).toEqual(relayForm())
})

test('its lines say what it gets, what waits and what failed', () => {
  const quietHours = { on: true, from: '22:00', to: '07:00', critical: true }
  expect(relayLine(view({ alerts: [...allKinds], quietHours, waiting: 3 }))).toBe(
    'All alerts. Quiet from 22:00 to 07:00. 3 not sent yet.',
  )
  expect(relayLine(view({ fromInstances: true }))).toContain('From instances')
  expect(relayLine(view({ alerts: ['run', 'outbid'] }))).toBe('Outbid, Runs.')
  const failure = { at: 0, problem: { code: 'offline', message: 'The receiver couldn’t be reached.' } }
  expect(failureLine(view({ failure }))).toMatch(
    /^Failed at .*: The receiver couldn’t be reached\. Given up\.$/,
  )
  expect(failureLine(view({ failure: { ...failure, again: 60_000 } }))).toMatch(
    /Next attempt at \d\d:\d\d\.$/,
  )
})
