import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMaintenanceMoves, leavesForMaintenance } from '#core/runs/maintenance-moves.ts'
import type { ProjectRun } from '#core/runs/model.ts'
import { leavesBefore } from '#shared/project/copy-first.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { instanceView } from '#test/unit/views.ts'
import { projectRun } from './stored-run.ts'

const start = 1_000_000
const spec = { run: 'x', results: ['out'], outbid: { elsewhere: 2 } }
const view = instanceView({ id: 7, state: 'running', pricePerHour: 400_000 })
const training = (fields: Partial<ProjectRun> = {}, more: object = {}) =>
  projectRun({ begunAt: start, ...fields, project: { spec: { ...spec, ...more }, price: 400_000 } })
const window = { from: start + 7200, until: start + 14_400 }
const soon = window.from - 600

test('a run leaves from an hour before its machine’s maintenance on, and not for one that it began under', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20_000 }),
      fc.integer({ min: -9000, max: 9000 }),
      fc.integer({ min: 60, max: 9000 }),
      (after, begun, length) => {
        const from = start + 9000
        const at = start + after
        const run = training({ begunAt: from + begun })
        const leaves = leavesForMaintenance(run, view, { from, until: from + length }, at)
        expect(leaves).toBe(begun < 0 && at >= from - leavesBefore && at < from + length)
      },
    ),
  )
})

test('a run stays that may not move, has nothing to continue from, ends, or can’t pay for two machines', () => {
  const leaves = (run: ProjectRun) => leavesForMaintenance(run, view, window, soon)
  expect(leaves(training())).toBe(true)
  expect(leaves(training({ most: 5_000_000 }))).toBe(true)
  const staying: ProjectRun[] = [
    training({}, { outbid: { elsewhere: 0 } }),
    training({}, { outbid: undefined }),
    training({ moves: 2 }),
    training({}, { results: undefined }),
    training({ step: 'setup' }),
    training({ begun: undefined }),
    training({ movingSince: start }),
    training({ endedByUser: true }),
    training({ told: { since: start, until: soon + 60 } }),
    training({ most: 500_000 }),
  ]
  for (const [index, run] of staying.entries()) expect(leaves(run), String(index)).toBe(false)
  expect(leavesForMaintenance(training(), undefined, window, soon)).toBe(false)
  expect(leavesForMaintenance(training(), { ...view, state: 'offline' }, window, soon)).toBe(false)
  expect(leavesForMaintenance(training(), view, undefined, soon)).toBe(false)
})

test('a poll moves each such run once, says why, and no run whose payer has no room', async () => {
  const asked: string[] = []
  let mayRentMore = false
  let isFree = false
  let at = soon - 1800
  const context = accountContext({ files: new MemoryFiles(), now: () => at })
  const entries: object[] = []
  const activity = { add: (entry: object) => void entries.push(entry) }
  let run = training()
  const { onPoll } = createMaintenanceMoves(
    { ...context, activity },
    {
      runs: { all: () => [run] },
      plannedMoves: {
        async leave(id) {
          asked.push(id)
          if (!isFree) return false
          run = { ...run, movingSince: at }
          return true
        },
      },
      mayRentMore: () => mayRentMore,
      scheduler: { hurry: () => undefined },
    },
  )
  const seen = { instances: { 7: view }, maintenances: { 7: window } }
  onPoll(seen)
  expect(asked).toEqual([])
  mayRentMore = true
  onPoll({ instances: { 7: view } })
  expect(asked).toEqual([])
  const settled = () => new Promise(resolve => setImmediate(resolve))
  onPoll(seen)
  onPoll(seen)
  await settled()
  expect([asked.length, entries.length]).toEqual([1, 0])
  isFree = true
  at += 600
  onPoll(seen)
  await settled()
  at += 600
  onPoll(seen)
  await settled()
  expect(asked).toEqual([run.id, run.id])
  expect(entries).toEqual([
    expect.objectContaining({
      kind: 'berth',
      text: expect.stringContaining('digits moves from'),
      detail: expect.stringContaining('Its host announced maintenance'),
    }),
  ])
})
