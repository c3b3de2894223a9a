import { expect, test } from 'vitest'
import {
  costToCome,
  countWords,
  rowCounts,
  sortedRows,
  sweepColumns,
  sweepCsv,
  sweepRows,
} from '#renderer/screens/projects/sweepTable.ts'
import { cancelledWords, type ProjectRunView } from '#shared/automation/run.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import { projectRunView } from '#test/unit/views.ts'

const sweep: SweepView = {
  id: 'q1',
  name: 'digits',
  project: 'p1',
  step: 'going',
  settings: [{ lr: '0.1' }, { lr: '0.02' }, { lr: '0.3' }],
  attempts: [0, 1, 0],
  atOnce: 1,
  results: 'sweeps/1',
  createdAt: 0,
  cost: { micros: 0, at: 0, perHour: 0 },
  agreed: {},
}

function run(index: number, attempt: number, change: Partial<ProjectRunView>): ProjectRunView {
  const cost = { micros: 100_000, at: 0, perHour: 0 }
  const sweep = { id: 'q1', index, attempt }
  return projectRunView({ id: `x${index}${attempt}`, cost, sweep, ...change })
}

const runs = [
  run(0, 0, { printed: { loss: 0.5 } }),
  run(1, 0, { step: 'failed', printed: { loss: 9 } }),
  run(1, 1, { step: 'running', cost: { micros: 40_000, at: 0, perHour: 0 }, printed: { loss: 0.25 } }),
]
const rows = sweepRows(sweep, runs)

test('a sweep’s rows are its runs by their latest attempt, also those that have not begun', () => {
  expect(rows.map(row => row.run?.id)).toEqual(['x00', 'x11', undefined])
  expect(sweepColumns(rows)).toEqual({ settings: ['lr'], printed: ['loss'] })
  expect(countWords(rowCounts(rows))).toBe('1 of 3 done, 1 in progress')
})

test('a run that was stopped is no failed one', () => {
  const stopped = ['sweep_limit', 'stopped_by_limit', 'stopped_by_user'].map((code, index) =>
    run(index, sweep.attempts[index] ?? 0, { step: 'failed', problem: { code, message: '' } }),
  )
  expect(countWords(rowCounts(sweepRows(sweep, stopped)))).toBe('0 of 3 done, 3 stopped')
})

test('rows are sorted by numbers as numbers, and those without a value come last either way', () => {
  const numbers = (by: Parameters<typeof sortedRows>[1], descending: boolean) =>
    sortedRows(rows, by, { descending, now: 0 }).map(({ number }) => number)
  expect(numbers({ setting: 'lr' }, false)).toEqual([2, 1, 3])
  expect(numbers({ printed: 'loss' }, false)).toEqual([2, 1, 3])
  expect(numbers({ printed: 'loss' }, true)).toEqual([1, 2, 3])
})

test('a number that has diverged comes after all others either way, and is shown and saved as its word', () => {
  const losses = ['nan', 0.5, '-inf', 0.25] as const
  const four = { ...sweep, settings: [{}, {}, {}, {}, {}], attempts: [0, 0, 0, 0, 0] }
  const all = sweepRows(
    four,
    losses.map((loss, index) => run(index, 0, { printed: { loss } })),
  )
  const order = (descending: boolean) =>
    sortedRows(all, { printed: 'loss' }, { descending, now: 0 }).map(({ number }) => number)
  expect(order(false)).toEqual([4, 2, 1, 3, 5])
  expect(order(true)).toEqual([2, 4, 1, 3, 5])
  expect(sweepCsv(all, 0)).toMatch(/\r\n1,nan,.*\r\n2,0\.5,.*\r\n3,-inf,/s)
})

test('the cost to come is as much for each run as those that are done have cost', () => {
  expect(costToCome(sweep, rows, 0)).toBe(160_000)
  expect(costToCome({ ...sweep, step: 'over' }, rows, 0)).toBeUndefined()
})

test('a sweep as CSV has a column for each setting and each number', () => {
  expect(sweepCsv(rows, 0).split('\r\n').slice(0, 4)).toEqual([
    'run,lr,loss,step,exit_code,started,ended,cost_usd,instance',
    '1,0.1,0.5,done,,,,0.100000,',
    '2,0.02,0.25,running,,,,0.040000,',
    '3,0.3,,not_begun,,,,,',
  ])
})

test('a cancelled run says since when, what it cost, and why its sweep was stopped', () => {
  const run = projectRunView({ step: 'cancelled', startedAt: 1000, endedAt: 1720 })
  const words = (
    given: Partial<typeof run>,
    sweep?: { step: string; problem?: { code: string; message: string } },
  ) => cancelledWords({ ...run, ...given }, { cost: 310_000, now: 1800, sweep })
  expect(words({})).toMatch(/^Cancelled at \d\d:\d\d, 12 min after its command began: it cost \$0\.31\.$/)
  expect(words({ startedAt: undefined }, { step: 'stopped' })).toMatch(
    /, before its command began: it cost \$0\.31\. Its sweep was cancelled\.$/,
  )
  const problem = { code: 'x', message: 'It has cost all that it may.' }
  expect(words({}, { step: 'halted', problem })).toMatch(/It has cost all that it may\.$/)
  expect(words({ step: 'done' })).toBeUndefined()
})
