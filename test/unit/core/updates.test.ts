import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pageFailures } from '#core/activity.ts'
import { diagnostics } from '#core/diagnostics.ts'
import { createStore } from '#core/storage/store.ts'
import { openUpdates } from '#core/updates.ts'
import { type OpenLog, openLog } from '#platform/log.ts'
import type { State } from '#shared/state.ts'
import { noting } from '#test/berth/account-context.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { silentLog } from '#test/berth/machine.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { accountView, emptyState, instanceView } from '#test/unit/views.ts'

let log: OpenLog
beforeEach(() => {
  log = openLog(join(temporaryFolder(), 'berth.log'))
})
afterEach(() => log.close())

const empty = emptyState()

test('diagnostics hold versions, settings and errors, no secrets or names', () => {
  const key = 'k3y-that-nobody-may-see'
  log.learn(key)
  log.line(`asked with ${key}`)
  const account = accountView(
    { name: 'Ada Lovelace', email: 'ada@example.com', baseUrl: 'https://gpu.example.com', demo: false },
    instanceView({ id: 4711, state: 'running' }),
  )
  const { settings } = empty
  const state: State = {
    ...empty,
    app: { ...empty.app, version: '1.2.3', runtime: 'Node 22' },
    accounts: { [account.id]: account },
    settings: { ...settings, terminal: { ...settings.terminal, command: ['xterm', '-T', 'my title'] } },
    activity: {
      a: {
        id: 'a',
        at: 0,
        kind: 'error',
        text: `Ada Lovelace was refused at gpu.example.com`,
        detail: `token=${key}; see /home/ada/berth`,
      },
      b: { id: 'b', at: 0, kind: 'user', text: 'Renamed #4711' },
      c: {
        id: 'c',
        at: 0,
        kind: 'error',
        text: 'Renting failed: secret-project (acme/private-image)',
        detail: 'Nothing is known of secret-project #4711.',
      },
    },
  }
  const text = diagnostics(state, log, '/home/ada', 0)
  for (const wanted of ['1.2.3', 'Node 22', '"pollInterval": 10', 'instances: 1 running', 'asked with'])
    expect(text).toContain(wanted)
  expect(text).toContain('was refused at')
  expect(text).not.toContain(key)
  expect(text).not.toMatch(/Ada|ada@|example\.com|\/home\/ada|my title|Renamed|secret-project|acme/)
})

test('page failures are reported at most ten times an hour, without passwords', async () => {
  const { said: told, activity } = noting()
  const clock = new HandClock()
  const note = pageFailures(activity, clock, log)
  for (let failure = 0; failure < 50; failure++) note('It failed', 'here, password=hunter22')
  expect(told).toHaveLength(10)
  expect(log.recent()).toHaveLength(10)
  expect(log.recent().join()).not.toContain('hunter22')
  await clock.pass(3_600_000)
  note('It failed', 'again')
  expect(told).toHaveLength(11)
})

test('without an updater no check for updates is made', async () => {
  const clock = new HandClock()
  const store = createStore(empty)
  const updates = openUpdates(store, clock, silentLog, undefined)
  await clock.pass(48 * 3_600_000)
  expect(store.get().update).toBeUndefined()
  await expect(updates.check()).rejects.toMatchObject({ problem: { code: 'no_updates' } })
})

test('with an updater it checks a minute after start, then daily, and fetches nothing', async () => {
  const clock = new HandClock()
  const store = createStore(empty)
  const done: string[] = []
  const updater = {
    check: async () => {
      done.push('check')
      return done.length < 3 ? undefined : '2.0.0'
    },
    fetch: async () => void done.push('fetch'),
    install: () => void done.push('install'),
  }
  const updates = openUpdates(store, clock, silentLog, updater)
  await clock.pass(59_000)
  expect(done).toEqual([])
  await clock.pass(1_000)
  expect(store.get().update).toEqual({ status: 'none', at: clock.now() })
  for (const day of [2, 3]) {
    await clock.pass(24 * 3_600_000)
    expect(done).toHaveLength(day)
  }
  expect(store.get().update).toEqual({ status: 'available', version: '2.0.0' })
  await clock.pass(23 * 3_600_000)
  expect(done).toEqual(['check', 'check', 'check'])
  updates.close()
  await clock.pass(24 * 3_600_000)
  expect(done).toHaveLength(3)
})
