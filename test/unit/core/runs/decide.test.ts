import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { stuckAlert } from '#core/runs/alerts.ts'
import {
  afterCommand,
  nextRunStep,
  observedRun,
  stuckSince,
  watchdogOrder,
  withStaleWatchdog,
} from '#core/runs/decide.ts'
import type { Run } from '#core/runs/model.ts'

const run: Run = {
  id: 'x0000000000000001',
  instance: 4711,
  name: 'training',
  command: 'python3 train.py',
  afterwards: 'nothing',
  watchdog: false,
  stuckAfter: 600,
  afterwardsIfStuck: false,
  step: 'running',
  createdAt: 1000,
  startedAt: 1000,
  seen: 0,
  dropped: 0,
  lastLine: '',
}

test('results are fetched before the instance is acted on, and nothing is done twice', () => {
  const wanted: Run = { ...run, fetch: '/root/results', afterwards: 'destroy' }
  expect(nextRunStep(wanted)).toBe('fetching')
  expect(nextRunStep({ ...wanted, fetched: true })).toBe('acting')
  expect(nextRunStep({ ...wanted, fetched: true, acted: 'destroy' })).toBe('over')
  expect(nextRunStep({ ...run, afterwards: 'stop' })).toBe('acting')
  expect(nextRunStep(run)).toBe('over')
})

test('a command that fails has its instance stopped, not destroyed, unless the user ended it', () => {
  const wanted: Run = { ...run, afterwards: 'destroy' }
  expect(afterCommand(wanted, 0)).toEqual({ step: 'acting', afterwards: 'destroy', code: 0 })
  expect(afterCommand(wanted, 1)).toEqual({ step: 'acting', afterwards: 'stop', code: 1 })
  expect(afterCommand({ ...wanted, fetch: '/root/out' }, 1)).toMatchObject({
    step: 'fetching',
    afterwards: 'stop',
  })
  expect(afterCommand({ ...wanted, endedByUser: true }, 143)).toMatchObject({ afterwards: 'destroy' })
  expect(afterCommand(run, 1)).toMatchObject({ step: 'failed', problem: { code: 'command_failed' } })
})

test('a run whose instance was stopped and started again does not stop it once more', () => {
  expect(nextRunStep({ ...run, afterwards: 'stop', interrupted: true })).toBe('over')
  expect(nextRunStep({ ...run, afterwards: 'destroy', fetch: '/root/a', interrupted: true })).toBe('fetching')
})

test('the watchdog only stops an instance with results to be fetched first', () => {
  const wanted: Run = { ...run, afterwards: 'destroy', watchdog: true }
  expect(watchdogOrder(wanted)).toMatchObject({ action: 'destroy' })
  expect(watchdogOrder({ ...wanted, fetch: '/root/results' })).toMatchObject({ action: 'stop' })
  expect(watchdogOrder({ ...wanted, watchdog: false })).toBeUndefined()
  expect(watchdogOrder({ ...run, watchdog: true })).toBeUndefined()
})

test('a run seems stuck after a time without output and load; either restarts that time', () => {
  expect(stuckSince(run, 1599)).toBeUndefined()
  expect(stuckSince(run, 1600)).toBe(1000)
  expect(stuckSince({ ...run, stuckAfter: 0 }, 9999)).toBeUndefined()
  const printed = observedRun(run, { bytes: 3 }, 1500)
  expect(stuckSince(printed, 2099)).toBeUndefined()
  expect(stuckSince(printed, 2100)).toBe(1500)
  const loaded = observedRun(run, { bytes: 0, load: 60 }, 1500)
  expect(stuckSince(loaded, 2099)).toBeUndefined()
  expect(stuckSince(observedRun(run, { bytes: 0, load: 2 }, 1500), 1600)).toBe(1000)
  const unread = observedRun(run, { bytes: 0, load: 'unread' }, 1500)
  expect(stuckSince(unread, 1600)).toBe(1000)
  expect(stuckAlert('a00000001', unread, 'RTX 4090', 1600).body).toContain('and its GPU load can’t be read.')
  expect(observedRun(unread, { bytes: 0 }, 1600).loadUnread).toBe(true)
  expect(observedRun(unread, { bytes: 0, load: 0 }, 1600).loadUnread).toBe(false)
  expect(observedRun({ ...run, stuckSince: 1000 }, { bytes: 1 }, 1700).stuckSince).toBeUndefined()
  expect(observedRun({ ...run, stuckSince: 1000 }, { bytes: 0 }, 1700).stuckSince).toBe(1000)
})

test('the watchdog hears of each change of its order, and never destroys unfetched results', () => {
  const steps = ['starting', 'running', 'fetching', 'acting', 'kept', 'over', 'failed'] as const
  const change = fc.record({
    afterwards: fc.constantFrom('nothing' as const, 'stop' as const, 'destroy' as const),
    step: fc.constantFrom(...steps),
    interrupted: fc.boolean(),
    fetched: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1 }), fc.boolean(), (changes, fetches) => {
      let now: Run = { ...run, watchdog: true, ...(fetches ? { fetch: '/root/results' } : {}) }
      /** The watchdog’s order: it hears of what is noted, and of nothing else. */
      let heard = watchdogOrder(now)
      for (const one of changes) {
        now = withStaleWatchdog(now, { ...now, ...one })
        if (now.watchdogStale) heard = watchdogOrder(now)
        now = { ...now, watchdogStale: false }
        expect(heard).toEqual(watchdogOrder(now))
        if (fetches) expect(heard?.action).not.toBe('destroy')
        if (['kept', 'over', 'failed'].includes(now.step) || now.interrupted) expect(heard).toBeUndefined()
      }
    }),
  )
})
