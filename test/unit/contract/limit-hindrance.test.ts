import { expect, test } from 'vitest'
import type { LimitView } from '#contract/automation/limit.ts'
import { hinderedLimits, limitHindrance, limitsWithoutBerth } from '#contract/automation/limit-words.ts'
import { accountView, limitView } from '../views.ts'

const limit = (id: string, step: LimitView['step']): LimitView =>
  limitView({ id, instance: 7, when: { kind: 'cost', dollars: 1 }, sentence: 'Stops #7.', step })
const limits = {
  a: limit('a', 'waiting'),
  b: limit('b', 'held'),
  c: limit('c', 'done'),
  d: limit('d', 'off'),
}

test('limits cannot act without the key or the service, and only those that are set are counted', () => {
  expect(limitHindrance({ status: 'online' })).toBeUndefined()
  expect(hinderedLimits(2, limitHindrance({ status: 'refused' }))).toBe(
    '2 limits are set and can’t act until the API key is accepted again.',
  )
  expect(hinderedLimits(0, limitHindrance({ status: 'offline' }))).toBeUndefined()
})

test('once Berth has quit its limits are told of, not those of the demo, and a watchdog that goes on', () => {
  const account = accountView({ limits })
  const said = '2 limits are set and can’t act while Berth is not running.'
  expect(limitsWithoutBerth([account, accountView({ demo: true, limits })])).toBe(said)
  expect(limitsWithoutBerth([accountView({ demo: true, limits }), accountView()])).toBeUndefined()
  const request = { action: 'stop' as const, lease: 3600 }
  const watchdogs = { 7: { instance: 7, request, step: 'watching' as const, foreign: false } }
  expect(limitsWithoutBerth([{ ...account, watchdogs }])).toBe(`${said} A watchdog on an instance still can.`)
})
