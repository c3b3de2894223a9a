import { expect, test } from 'vitest'
import type { InstanceState } from '#contract/instance/instance.ts'
import { runningSince } from '#contract/reading.ts'
import { instanceView } from '../views.ts'

const history = (...states: InstanceState[]) =>
  states.map((state, index) => ({ at: (index + 1) * 100, state, actualStatus: null }))

test('an instance runs since its last change to running', () => {
  const again = history('loading', 'running', 'outbid', 'loading', 'running', 'running')
  expect(runningSince(instanceView({ id: 7, startedAt: 50, history: again }))).toBe(500)
})

test('a stopped instance has no such time', () => {
  const stopped = instanceView({
    id: 7,
    state: 'stopped',
    startedAt: 50,
    history: history('running', 'stopped'),
  })
  expect(runningSince(stopped)).toBeUndefined()
})

test('an instance that was already running when first seen runs since its creation', () => {
  expect(runningSince(instanceView({ id: 7, startedAt: 50, history: history('running') }))).toBe(50)
  expect(runningSince(instanceView({ id: 7, history: history('running') }))).toBe(100)
})
