import { expect, test } from 'vitest'
import type { GuardView } from '#contract/automation/guard.ts'
import { guardHindrance, guardsWithoutBerth, hinderedGuards } from '#contract/automation/guard-hindrance.ts'
import { accountView } from '../views.ts'

const guard = (id: string, step: GuardView['step']): GuardView => ({
  id,
  instance: 7,
  condition: { kind: 'cost', limit: 1_000_000 },
  action: 'stop',
  warning: 0,
  missed: 'act',
  sentence: 'Stops #7.',
  step,
  history: [],
})
const guards = {
  a: guard('a', 'waiting'),
  b: guard('b', 'held'),
  c: guard('c', 'done'),
  d: guard('d', 'off'),
}

test('guards cannot act without the key or the service, and only those that are set are counted', () => {
  expect(guardHindrance({ status: 'online' })).toBeUndefined()
  expect(hinderedGuards(2, guardHindrance({ status: 'refused' }))).toBe(
    '2 limits are set and cannot act until the API key is accepted again.',
  )
  expect(hinderedGuards(0, guardHindrance({ status: 'offline' }))).toBeUndefined()
})

test('once Berth has ended its guards are told of, not those of the demo, and a watchdog that goes on', () => {
  const account = accountView({ guards })
  const said = '2 limits are set and cannot act while Berth is not running.'
  expect(guardsWithoutBerth([account, accountView({ demo: true, guards })])).toBe(said)
  expect(guardsWithoutBerth([accountView({ demo: true, guards }), accountView()])).toBeUndefined()
  const request = { action: 'stop' as const, lease: 3600 }
  const watchdogs = { 7: { instance: 7, request, step: 'watching' as const, foreign: false } }
  expect(guardsWithoutBerth([{ ...account, watchdogs }])).toBe(`${said} A watchdog on an instance still can.`)
})
