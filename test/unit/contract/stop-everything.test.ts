import { expect, test } from 'vitest'
import { everything } from '#contract/automation/stop-everything.ts'
import type { InstanceState } from '#contract/instance/instance.ts'
import { accountView, instanceView } from '../views.ts'

const isStopped: Record<InstanceState, boolean> = {
  provisioning: true,
  loading: true,
  running: true,
  // It would run again once its bid is enough.
  restarting: true,
  frozen: true,
  waiting: true,
  exited: true,
  outbid: true,
  silent: true,
  // It would run again once its machine is back.
  offline: true,
  other: true,
  stopping: false,
  stopped: false,
  ended: false,
  crashed: false,
  unstartable: false,
  destroying: false,
}

test.each(Object.entries(isStopped) as [InstanceState, boolean][])(
  'for the state %s it is %s that Stop everything stops it',
  (state, stops) => {
    const { instances } = everything(accountView({}, instanceView({ state })))
    expect(instances.map(instance => instance.state)).toEqual(stops ? [state] : [])
  },
)

test('an offline instance that was stopped before is not stopped again', () => {
  const given = { state: 'offline', intendedStatus: 'stopped' } as const
  expect(everything(accountView({}, instanceView(given))).instances).toEqual([])
})
