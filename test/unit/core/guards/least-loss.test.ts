import { expect, test } from 'vitest'
import type { InstanceState } from '../../../../electron/contract/instance/instance.ts'
import { accountTargets } from '../../../../electron/core/guards/decide/least-loss.ts'
import { instanceView } from '../views.ts'

/** What a guard on the account does that may destroy: nothing where its GPUs are not paid for yet, or no more. */
const done: Record<InstanceState, 'stop' | 'destroy' | undefined> = {
  running: 'stop',
  // Its host does not answer, and is paid for it.
  silent: 'stop',
  other: 'stop',
  stopped: 'destroy',
  outbid: 'destroy',
  crashed: 'destroy',
  offline: 'destroy',
  provisioning: undefined,
  loading: undefined,
  stopping: undefined,
}

const budget = { kind: 'budget', per: 'day', limit: 1 } as const

test.each(Object.entries(done) as [InstanceState, 'stop' | 'destroy' | undefined][])(
  'what is %s: %s, and by one that only stops nothing is destroyed',
  (state, action) => {
    const instances = { 4711: instanceView({ state }) }
    const by = (most: 'stop' | 'destroy') =>
      accountTargets({ condition: budget, action: most }, { instances }, new Map(), 0)
    expect(by('destroy')).toEqual(action ? [{ instance: 4711, action }] : [])
    expect(by('stop')).toEqual(action === 'stop' ? [{ instance: 4711, action }] : [])
  },
)
