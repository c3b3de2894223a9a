import { expect, test } from 'vitest'
import type { InstanceState } from '#contract/instance/instance.ts'
import { nextRentalStep } from '#core/renting/rentals/decide.ts'
import type { Rental } from '#core/renting/rentals/model.ts'
import { instanceView } from '#test/unit/views.ts'

const rental: Rental = {
  id: 'r0123456789abcdef',
  account: 'a00000001',
  request: {
    offer: 7,
    image: 'pytorch/pytorch',
    access: 'ssh',
    disk: 20,
    env: [],
    ports: [],
  },
  offer: { id: 7 },
  step: 'waiting',
  before: [],
  asked: 1,
  instance: 4711,
  startedAt: 1000,
  createdAt: 1010,
  deadline: 600,
}
const step = (state: InstanceState, now = 1100) => nextRentalStep(rental, instanceView({ state }), now)

test('a rental waits until its instance runs', () => {
  expect(step('provisioning')).toEqual({ step: 'waiting' })
  expect(step('loading')).toEqual({ step: 'waiting' })
  expect(step('other')).toEqual({ step: 'waiting' })
  expect(step('running')).toEqual({ step: 'running' })
})

test('the deadline counts from creation, and running is never late', () => {
  expect(step('loading', 1609)).toEqual({ step: 'waiting' })
  expect(step('loading', 1610)).toMatchObject({ step: 'late', problem: { code: 'late' } })
  expect(step('running', 9999)).toEqual({ step: 'running' })
})

test.each(['crashed', 'ended', 'silent', 'offline', 'outbid', 'stopped'] as const)(
  'a rental whose instance is %s has failed, with what to do',
  state => {
    const { step: next, problem } = step(state)
    expect(next).toBe('failed')
    expect(problem?.code).toBe(state)
    expect(problem?.advice).toMatch(/^[A-Z].{10,}\.$/)
  },
)

test('a rental whose instance is gone fails', () => {
  expect(nextRentalStep(rental, undefined, 1100)).toMatchObject({
    step: 'failed',
    problem: { code: 'instance_gone' },
  })
})
