import { expect, test } from 'vitest'
import type { Run } from '#core/runs/model.ts'
import { isUnsafe, spared } from '#core/runs/spares.ts'

const run = (changes: Partial<Run>): Run => ({
  id: 'x0123456789abcdef',
  instance: 7,
  name: 'train',
  command: 'train',
  fetch: '/workspace/out',
  afterwards: 'nothing',
  watchdog: false,
  stuckAfter: 0,
  afterwardsIfStuck: false,
  step: 'running',
  createdAt: 0,
  seen: 0,
  dropped: 0,
  lastLine: '',
  ...changes,
})

test.each<[Partial<Run>, boolean]>([
  [{ step: 'running' }, true],
  [{ step: 'fetching' }, true],
  [{ step: 'kept' }, true],
  [{ step: 'acting', fetched: true }, false],
  [{ step: 'over' }, false],
  [{ step: 'waiting' }, false],
  [{ step: 'failed', startedAt: 1 }, true],
  [{ step: 'failed', startedAt: 1, fetched: true }, false],
  [{ step: 'failed' }, false],
])('a folder of a run that is %o would be lost with its instance: %s', (changes, unsafe) => {
  expect(isUnsafe(run(changes))).toBe(unsafe)
  const { fetch: _, ...plain } = run(changes)
  expect(isUnsafe(plain)).toBe(false)
})

test('a limit that destroys only stops if a folder would be lost, and waits for a fetch', () => {
  expect(spared([], 'running')).toBe('destroy')
  expect(spared([run({})], 'running')).toBe('stop')
  expect(spared([run({ step: 'kept' })], 'silent')).toBe('stop')
  expect(spared([run({ step: 'fetching' })], 'running')).toBeUndefined()
  expect(spared([run({ step: 'fetching', unreachedSince: 1 })], 'running')).toBe('stop')
  expect(spared([run({ step: 'kept' })], 'stopped')).toBeUndefined()
})
