import { expect, test } from 'vitest'
import { afterwards, nextStep, observed, type Run, stuckSince } from '../../../../electron/core/runs/run.ts'

const run: Run = {
  id: 'x0000000000000001',
  instance: 4711,
  name: 'training',
  command: 'python3 train.py',
  atEnd: 'nothing',
  watchdog: false,
  stuckAfter: 600,
  stuckEnds: false,
  step: 'running',
  createdAt: 1000,
  startedAt: 1000,
  seen: 0,
  dropped: 0,
  lastLine: '',
}

test('what is to be fetched is fetched before anything is done to the instance, and what was done is not done again', () => {
  const wish: Run = { ...run, fetch: '/root/results', atEnd: 'destroy' }
  expect(nextStep(wish)).toBe('fetching')
  expect(nextStep({ ...wish, fetched: true })).toBe('acting')
  expect(nextStep({ ...wish, fetched: true, acted: 'destroy' })).toBe('over')
  expect(nextStep({ ...run, atEnd: 'stop' })).toBe('acting')
  expect(nextStep(run)).toBe('over')
})

test('an instance that was stopped before the end was seen, and started again, is not stopped once more', () => {
  expect(nextStep({ ...run, atEnd: 'stop', interrupted: true })).toBe('over')
  expect(nextStep({ ...run, atEnd: 'destroy', fetch: '/root/a', interrupted: true })).toBe('fetching')
})

test('the watchdog destroys nothing that was to be fetched first', () => {
  const wish: Run = { ...run, atEnd: 'destroy', watchdog: true }
  expect(afterwards(wish)).toMatchObject({ action: 'destroy' })
  expect(afterwards({ ...wish, fetch: '/root/results' })).toMatchObject({ action: 'stop' })
  expect(afterwards({ ...wish, watchdog: false })).toBeUndefined()
  expect(afterwards({ ...run, watchdog: true })).toBeUndefined()
})

test('a run seems stuck after so long without output and without load, and either begins that anew', () => {
  expect(stuckSince(run, 1599)).toBeUndefined()
  expect(stuckSince(run, 1600)).toBe(1000)
  expect(stuckSince({ ...run, stuckAfter: 0 }, 9999)).toBeUndefined()
  const printed = observed(run, { bytes: 3 }, 1500)
  expect(stuckSince(printed, 2099)).toBeUndefined()
  expect(stuckSince(printed, 2100)).toBe(1500)
  const loaded = observed(run, { bytes: 0, load: 60 }, 1500)
  expect(stuckSince(loaded, 2099)).toBeUndefined()
  expect(stuckSince(observed(run, { bytes: 0, load: 2 }, 1500), 1600)).toBe(1000)
  expect(observed({ ...run, stuckSince: 1000 }, { bytes: 1 }, 1700).stuckSince).toBeUndefined()
  expect(observed({ ...run, stuckSince: 1000 }, { bytes: 0 }, 1700).stuckSince).toBe(1000)
})
