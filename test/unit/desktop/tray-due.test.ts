import { expect, test } from 'vitest'
import { dueEntries } from '#desktop/tray/tray-due.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { accountView, byId, instanceView, limitView } from '../views.ts'

function dueLimit(given: Partial<LimitView> = {}): LimitView {
  return limitView({
    instance: 4711,
    when: { kind: 'time', at: 7200 },
    sentence: 'Stops llama #4711 at 18:00.',
    dueAt: 7200,
    ...given,
  })
}

const account = (...limits: LimitView[]) =>
  accountView({ limits: byId(limits) }, instanceView({ label: 'llama' }))

test('the next due limit has its snoozes and an entry that opens it', () => {
  const later = dueLimit({ id: 'g0000000000000002', dueAt: 9000, action: 'destroy' })
  const over = dueLimit({ id: 'g0000000000000003', dueAt: 10, step: 'done' })
  const [next] = dueEntries([account(later, over, dueLimit())])
  expect(next).toMatchObject({
    label: expect.stringMatching(/^Next: stops llama #4711, \w{3},? \d{2}:\d{2}$/),
  })
  const submenu = next && 'submenu' in next ? (next.submenu ?? []) : []
  expect(submenu[1]).toMatchObject({
    label: 'Extend 1 h',
    action: { name: 'snoozeLimit', args: { limit: 'g0000000000000001', minutes: 60 } },
  })
  expect(submenu.at(-1)).toMatchObject({
    action: { place: { screen: 'instances', instance: 4711, tab: 'automation' } },
  })
})

test('a limit that cannot act is not announced as next', () => {
  const problem = { code: 'key_missing', message: 'No key.' }
  const [next] = dueEntries([{ ...account(dueLimit()), connection: { status: 'locked', problem } }])
  expect(next).toMatchObject({ label: expect.stringMatching(/^Can’t act now: stops llama #4711, /) })
})

test('Stop everything… opens its question, and is offered only while something runs', () => {
  expect(dueEntries([account()])).toEqual([
    {
      label: 'Stop everything…',
      action: { kind: 'go', account: 'a00000001', place: { screen: 'here', ask: 'stopAll' } },
    },
  ])
  expect(dueEntries([accountView({}, instanceView({ state: 'stopped' }))])).toEqual([])
})

test('with several accounts each one’s next limit and question carry its name, soonest first', () => {
  const here = { ...account(dueLimit()), name: 'Home' }
  const other = {
    ...account(dueLimit({ id: 'g0000000000000009', dueAt: 3600 })),
    id: 'a00000002',
    name: 'Work',
  }
  const labels = dueEntries([here, other]).map(entry => ('label' in entry ? entry.label : ''))
  expect(labels).toEqual([
    expect.stringMatching(/^Next on Work: stops llama #4711/),
    expect.stringMatching(/^Then on Home: stops llama #4711/),
    'Stop everything on Home…',
    'Stop everything on Work…',
  ])
  expect(dueEntries([here, other])[3]).toMatchObject({ action: { account: 'a00000002' } })
  // Whichever account is shown, each entry acts on its own.
  for (const [at, id] of [
    [0, 'a00000002'],
    [1, 'a00000001'],
  ] as const) {
    const entry = dueEntries([here, other])[at]
    const submenu = entry && 'submenu' in entry ? (entry.submenu ?? []) : []
    const snooze = { action: { name: 'snoozeLimit', args: { account: id } } }
    expect(submenu.slice(0, 2)).toMatchObject([snooze, snooze])
    expect(submenu.at(-1)).toMatchObject({ action: { account: id } })
  }
})
