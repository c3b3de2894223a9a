import { describe, expect, test } from 'vitest'
import { keptAlert, pastKeepWords } from '#core/runs/alerts.ts'
import { failed, movedToNewMachine } from '#core/runs/changes.ts'
import { nextRunMove } from '#core/runs/decide.ts'
import { keptFrom, limitsLeft, mostInAll, type Run } from '#core/runs/model.ts'
import { sweepMost, sweepMostInAll } from '#core/sweeps/record.ts'
import { nextSweepMove } from '#core/sweeps/step.ts'
import type { Limit } from '#shared/automation/limit.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { micros } from '#shared/spending/money.ts'
import { instanceView } from '#test/unit/views.ts'
import { projectRun } from './stored-run.ts'

const day = 86_400
const hours: Limit = { when: { kind: 'duration', seconds: 7200 }, action: 'stop', asleep: false }
const dollarsOf = (limits: readonly Limit[]) =>
  limits.flatMap(({ when }) => (when.kind === 'cost' ? when.dollars : []))
const machine = (state: InstanceState) => instanceView({ id: 7, state })
const stopped = { awaited: undefined, instance: machine('stopped'), limit: undefined }

describe('what a run may cost at most', () => {
  test('is a limit of each machine, also where only hours were agreed', () => {
    const run = projectRun({ most: micros(1.2), project: { limits: [hours] } })
    expect(dollarsOf(limitsLeft(run, [hours], 0, undefined))).toEqual([1.2])
    expect(dollarsOf(limitsLeft({ ...run, spentBefore: micros(1) }, [hours], 0, undefined))).toEqual([0.2])
    // A machine that its user has it leave runs on until its files are taken.
    const planned = { whole: true, reserve: micros(0.3) }
    const moved = {
      ...run,
      ...movedToNewMachine({ ...run, spent: undefined }, 'r0000000000000002', 9, planned),
    }
    expect(dollarsOf(limitsLeft(moved, [hours], 9, undefined))).toEqual([0.9])
    expect(moved.leaving).toEqual([expect.objectContaining({ runsUntil: 1809, whole: true })])
  })

  test('is shared by nodes as they cost, without a cent more', () => {
    const offers = [1, 2, 3].map(id => ({ id, price: id * 100_000 }))
    const network = { name: 'n', cluster: 1, offers, isMade: true }
    const head = { ...projectRun({ most: micros(0.01) }), node: { of: 'x1', rank: 0, count: 3, network } }
    const shares = [0, 1, 2].flatMap(rank => {
      const run = { ...projectRun(), node: { of: 'x1', rank, count: 3 } }
      return dollarsOf(limitsLeft(run, [hours], 0, head as Run))
    })
    expect(shares).toEqual([0.001666, 0.003333, 0.005])
  })

  test('is not passed by renting another machine', () => {
    const run = projectRun({ step: 'waiting', instance: undefined, most: 1000, spentBefore: 999 })
    const nothing = { ...stopped, instance: undefined, now: 0 }
    expect(nextRunMove(run, nothing)).toEqual({ do: 'rent' })
    expect(nextRunMove({ ...run, spentBefore: 1000 }, nothing)).toMatchObject({
      do: 'fail',
      problem: { code: 'most_reached', message: 'It has cost all that it may.' },
    })
    // What a machine that it left may still cost is not spent yet.
    expect(
      nextRunMove({ ...run, spentBefore: 400_000, most: 1_000_000, reserved: 600_000 }, nothing),
    ).toMatchObject({
      problem: { message: expect.stringMatching(/^It has cost \$0\.40 of the \$1\.00 that it may, and/) },
    })
  })

  const keeping = { seconds: 3600, destroys: true }

  test('pays for the disk of a failed run’s machine, which is destroyed then, unless it runs', () => {
    const run = projectRun({ step: 'failed', most: 1000, project: { keptCost: 200 } })
    expect(mostInAll(run)).toBe(1200)
    expect(mostInAll(projectRun({ most: 1000 }))).toBeUndefined()
    // Stopped too late, as after a sleep, it keeps its files as long.
    expect(mostInAll({ ...run, costThen: 5000 })).toBe(5200)
    expect(mostInAll({ ...run, costThen: 500 })).toBe(1200)
    expect(nextRunMove(run, { ...stopped, now: 0 })).toEqual({ do: 'wait' })
    const spent = { ...stopped, now: 0, isSpent: true }
    expect(nextRunMove(run, spent)).toEqual({ do: 'expire', destroys: true, isSpent: true })
    expect(nextRunMove(run, { ...spent, instance: machine('crashed') })).toEqual({
      do: 'expire',
      destroys: true,
      isSpent: true,
    })
    // Not as the first act after a sleep that took the reminder, too.
    const unreminded = { ...run, keptUntil: 0 }
    const woken = { ...spent, now: day }
    expect(nextRunMove({ ...unreminded, keptUntil: day - 60 }, woken)).toMatchObject({ destroys: true })
    expect(nextRunMove(unreminded, woken)).toEqual({ do: 'expire', destroys: false, isSpent: true })
    const told = { ...unreminded, lastCall: day + 3600, keptUntil: day + day }
    expect(nextRunMove(told, woken)).toEqual({ do: 'wait' })
    expect(nextRunMove(told, { ...woken, now: day + 3600 })).toMatchObject({ destroys: true })
    const facts = { destroyed: false, isSpent: true, view: undefined, now: day } as const
    expect(keptAlert('a00000001', told, facts).body).toMatch(
      /has cost what it may.* It’s destroyed (at|on) .*\d\d/,
    )
    // It names its true cause, also where the sweep's cost is what is reached.
    const kept = projectRun({ step: 'failed', spentBefore: 400_000, project: { keeping } })
    expect(pastKeepWords(kept, undefined, 0)).toBe(
      'Its machine was kept for 1 h, as you chose. It cost $0.40.',
    )
    const sweep = { id: 'q0000000000000001', index: 0, attempt: 0 }
    expect(pastKeepWords({ ...kept, sweep }, true, 0)).toBe(
      'The sweep has cost what it may. Of that, this run cost $0.40.',
    )
    expect(nextRunMove(run, { ...spent, instance: machine('running') })).toEqual({ do: 'wait' })
  })

  test('of a sweep stops it by hours too, and counts the disks after that', () => {
    const spec = { run: 'x', machine: { price: 1 } }
    const project = { ...projectRun().project, spec, limits: [hours], price: micros(1), keptCost: 500 }
    const sweep = {
      id: 'q0000000000000001',
      name: 'digits',
      project,
      settings: [{}, {}],
      attempts: [0, 0],
      atOnce: 2,
      results: 'sweeps/1',
      step: 'going' as const,
      createdAt: 0,
      since: { at: 0, micros: 0, failed: 0 },
      machines: { 7: { micros: 0, at: 0, perHour: micros(20) } },
      attemptCost: 0,
    }
    expect(sweepMost(sweep)).toBe(micros(6) + 500)
    expect(sweepMostInAll(sweep)).toBe(micros(6) + 500)
    const move = (now: number) => nextSweepMove({ sweep, runs: [], waiting: [], isRenting: true, now })
    expect(move(1000)).toEqual({ do: 'wait' })
    expect(move(1080)).toMatchObject({
      do: 'halt',
      endsRuns: true,
      problem: { message: expect.stringContaining('cost limit') },
    })
  })
})

describe('the user is reminded of a stopped machine', () => {
  test.each([
    ['after the time of the file', { seconds: 3600, destroys: false }, { keptUntil: 3600 }],
    ['within a day whatever it says', { seconds: 333 * day, destroys: false }, { keptUntil: day }],
    [
      'and once more before it is destroyed',
      { seconds: 3 * day, destroys: true },
      { keptUntil: 3 * day, remindAt: day },
    ],
    ['and not where it is destroyed before', { seconds: 3600, destroys: true }, { keptUntil: 3600 }],
  ])('%s', (_, keeping, wanted) => {
    expect(keptFrom(keeping, 0)).toEqual({ remindAt: undefined, ...wanted })
    const change = failed(projectRun({ project: { keeping } }), { code: 'x', message: 'x' }, 0)
    expect(change).toMatchObject(wanted)
  })

  test('and of one that is stopped after a success, which is not destroyed', () => {
    const run = projectRun({
      step: 'done',
      keptUntil: day,
      project: { keeping: { seconds: 60, destroys: true } },
    })
    expect(nextRunMove(run, { ...stopped, now: day - 1, isSpent: true })).toEqual({ do: 'wait' })
    expect(nextRunMove(run, { ...stopped, now: day, isSpent: true })).toEqual({
      do: 'expire',
      destroys: false,
    })
  })
})
