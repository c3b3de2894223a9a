import { expect, test } from 'vitest'
import { accountTargets, targetsOf } from '#core/limits/targets.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { instanceView } from '#test/unit/views.ts'

/** The action of an account limit that may destroy: none where the GPUs are not billed yet, or no longer. */
const done: Record<InstanceState, 'stop' | 'destroy' | undefined> = {
  running: 'stop',
  // The host does not answer, but is billed.
  restarting: 'stop',
  frozen: 'stop',
  waiting: 'stop',
  exited: 'stop',
  silent: 'stop',
  other: 'stop',
  stopped: 'destroy',
  ended: 'destroy',
  outbid: 'destroy',
  crashed: 'destroy',
  unstartable: 'destroy',
  // The machine may come back, with it running.
  offline: 'stop',
  provisioning: undefined,
  loading: undefined,
  stopping: undefined,
  destroying: undefined,
}

const budget = { kind: 'budget', per: 'day', dollars: 1 } as const

test.each(Object.entries(done) as [InstanceState, 'stop' | 'destroy' | undefined][])(
  'instance %s: %s, and a limit that only stops never destroys it',
  (state, action) => {
    const instances = { 4711: instanceView({ state }) }
    const by = (most: 'stop' | 'destroy') =>
      accountTargets({ when: budget, action: most }, { instances, observedPerHour: 0 }, new Map(), 0)
    expect(by('destroy')).toEqual(action ? [{ instance: 4711, action }] : [])
    expect(by('stop')).toEqual(action === 'stop' ? [{ instance: 4711, action }] : [])
  },
)

test('a stopped instance on an offline machine is not stopped again, only destroyed', () => {
  const instances = { 4711: instanceView({ state: 'offline', intendedStatus: 'stopped' }) }
  const by = (action: 'stop' | 'destroy') =>
    accountTargets({ when: budget, action }, { instances, observedPerHour: 0 }, new Map(), 0)
  expect([by('stop'), by('destroy')]).toEqual([[], [{ instance: 4711, action: 'destroy' }]])
})

test('an offline instance that costs nothing is no saving, and makes up for none', () => {
  const instances = {
    1: instanceView({ id: 1, state: 'offline', costPerHour: 0, diskPricePerHour: 90_000 }),
    2: instanceView({ id: 2, startedAt: 0, costPerHour: 100_000, diskPricePerHour: 0 }),
    3: instanceView({ id: 3, startedAt: 0, costPerHour: 100_000, diskPricePerHour: 0 }),
  }
  const credit = { when: { kind: 'credit', hours: 10 }, action: 'stop' } as const
  const targets = accountTargets(
    credit,
    { instances, credit: 1_000_000, observedPerHour: 0 },
    new Map(),
    1000,
  )
  expect(targets.map(({ instance }) => instance)).toEqual([1, 2])
})

test('nothing is destroyed while another instance is stopping or can be stopped', () => {
  const stopped = instanceView({ id: 1, state: 'stopped' })
  const by = (state: InstanceState) =>
    accountTargets(
      { when: budget, action: 'destroy' },
      { instances: { 1: stopped, 2: instanceView({ id: 2, state }) }, observedPerHour: 0 },
      new Map(),
      0,
    )
  expect(by('stopping')).toEqual([])
  expect(by('running')).toEqual([{ instance: 2, action: 'stop' }])
  expect(by('stopped')).toHaveLength(2)
})

test('a limit skips missing and just handled instances, and stops none that is stopping', () => {
  const instances = { 1: instanceView({ id: 1, state: 'stopping' }), 2: instanceView({ id: 2 }) }
  const facts = { account: { instances, spendPerHour: 0 }, loads: new Map(), observedPerHour: 0 }
  const on = (instance: number | undefined, action: 'stop' | 'destroy', acted: number[] = []) =>
    targetsOf({ when: budget, instance, action }, { facts, acted: new Set(acted) }, 0)
  expect(on(1, 'stop')).toEqual([])
  expect(on(1, 'destroy')).toEqual([{ instance: 1, action: 'destroy' }])
  expect(on(3, 'stop')).toEqual([])
  expect(on(undefined, 'stop')).toEqual([{ instance: 2, action: 'stop' }])
  expect(on(undefined, 'stop', [2])).toEqual([])
})

test('a credit limit stops instances of known cost first, and all once no credit is left', () => {
  const unseen = { costPerHour: 0, costUnknown: true } as const
  const instances = {
    1: instanceView({ id: 1, ...unseen }),
    2: instanceView({ id: 2, costPerHour: 1_000_000 }),
    3: instanceView({ id: 3, ...unseen }),
  }
  const stopped = (credit: number, observedPerHour = 0) =>
    accountTargets(
      { when: { kind: 'credit', hours: 6 }, action: 'stop' },
      { instances, credit, observedPerHour },
      new Map(),
      0,
    ).map(({ instance }) => instance)
  expect(stopped(1_000_000)).toEqual([2])
  expect(stopped(0)).toEqual([2, 1, 3])
  expect(stopped(1_000_000, 3_000_000)).toEqual([2, 1, 3])
  expect(stopped(40_000_000, 3_000_000)).toEqual([])
})
