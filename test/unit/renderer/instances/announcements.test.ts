import { expect, test } from 'vitest'
import { announcements } from '#renderer/screens/instances/announcements.ts'
import { accountView, instanceView, limitView } from '#test/unit/views.ts'

const box = instanceView({ id: 7, label: 'box', state: 'loading' })
const before = accountView({}, box)
const become = (state: typeof box.state) => announcements(before, accountView({}, { ...box, state }))

test('a ready, outbid or crashed instance is announced when its state changes', () => {
  expect(become('running')).toEqual(['box #7 is ready.'])
  expect(become('outbid')).toEqual(['box #7 was outbid.'])
  expect(become('crashed')).toEqual(['box #7 crashed.'])
  expect(become('stopped')).toEqual([])
  expect(announcements(before, before)).toEqual([])
  expect(announcements(accountView(), before)).toEqual([])
  expect(
    announcements(accountView({ id: 'other' }, box), accountView({}, { ...box, state: 'running' })),
  ).toEqual([])
})

test('a limit’s action is announced once', () => {
  const limit = limitView({
    id: 'g1',
    instance: 7,
    when: { kind: 'time', at: 5 },
    sentence: 'Stops box #7 at 18:00',
    step: 'acting',
  })
  const done = { ...limit, step: 'done', history: [{ at: 5, text: 'Stopped box #7' }] } as const
  const acting = accountView({ limits: { g1: limit } })
  expect(announcements(acting, accountView({ limits: { g1: done } }))).toEqual(['Limit: Stopped box #7'])
  expect(announcements(accountView({ limits: { g1: done } }), accountView({ limits: { g1: done } }))).toEqual(
    [],
  )
})
