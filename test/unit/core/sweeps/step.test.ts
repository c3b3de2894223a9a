import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountPoll } from '#core/account-context.ts'
import type { Run } from '#core/runs/model.ts'
import { createSweepLimits } from '#core/sweeps/limits.ts'
import { type Sweep, sweepCost, sweepMostInAll, sweepWaiting } from '#core/sweeps/record.ts'
import { nextSweepMove, type SweepSnapshot } from '#core/sweeps/step.ts'
import { isGoing, RunStep } from '#shared/automation/run.ts'
import { waitingLine } from '#shared/automation/waiting.ts'
import { projectRun } from '../runs/stored-run.ts'

const id = 'q0000000000000001'
const { project } = projectRun()

function sweep(change: Partial<Sweep> = {}): Sweep {
  return {
    id,
    name: 'digits',
    project: { ...project, limits: [] },
    settings: [{}, {}, {}, {}],
    attempts: [0, 0, 0, 0],
    atOnce: 2,
    results: 'sweeps/1',
    step: 'going',
    createdAt: 1000,
    since: { at: 1000, micros: 0, failed: 0 },
    machines: {},
    attemptCost: 0,
    ...change,
  }
}

function run(index: number, change: Partial<Run> = {}, attempt = 0): Run {
  return {
    ...projectRun(),
    id: `x${String(index).padStart(16, '0')}`,
    sweep: { id, index, attempt },
    ...change,
  }
}

const next = (change: Partial<SweepSnapshot>) =>
  nextSweepMove({ sweep: sweep(), runs: [], waiting: [], isRenting: false, now: 2000, ...change })

const ready = { instance: 7, isReady: true }

describe('a sweep that continues', () => {
  test('waits while a machine is being requested, since both might choose the same offer', () => {
    expect(next({ runs: [run(0, { step: 'waiting' })], isRenting: true })).toEqual({ do: 'wait' })
  })

  test('rents no more machines than it may use at once', () => {
    const runs = [run(0, { step: 'running' }), run(1, { step: 'sending' })]
    expect(next({ runs })).toEqual({ do: 'wait' })
    expect(next({ runs: runs.slice(0, 1) })).toMatchObject({ do: 'run', index: 1 })
    expect(next({ runs: runs.slice(0, 1), waiting: [{ ...ready, isReady: false }] })).toEqual({ do: 'wait' })
  })

  test('takes a run back that got no machine, once what was rented for it is undone', () => {
    const unrented = run(0, { step: 'failed', failedAt: 'waiting', instance: undefined, withdrawing: true })
    expect(next({ runs: [unrented] })).toEqual({ do: 'wait' })
    expect(next({ runs: [{ ...unrented, withdrawing: undefined }] })).toMatchObject({ do: 'requeue' })
  })

  test('starts the next run on a waiting machine at once', () => {
    const runs = [run(0, { step: 'done' }), run(1, { step: 'running' })]
    expect(next({ runs, waiting: [ready], isRenting: true })).toEqual({ do: 'run', index: 2, on: 7 })
  })

  test('ends a machine without further runs, unless it’s kept', () => {
    const runs = [0, 1, 2].map(index => run(index, { step: 'done' }))
    const all = [...runs, run(3, { step: 'running' })]
    expect(next({ runs: all, waiting: [ready] })).toEqual({ do: 'release', instance: 7 })
    expect(next({ runs: all, waiting: [ready], sweep: sweep({ keep: 600 }) })).toEqual({ do: 'wait' })
  })
})

describe('without a free machine', () => {
  const unrented = run(1, { step: 'failed', failedAt: 'waiting' })
  const short = { problem: { code: 'not_rented', message: 'None.' }, nextTryAt: 2300 }

  test('the run goes back to those that have not begun', () => {
    expect(next({ runs: [run(0, { step: 'running' }), unrented] })).toEqual({ do: 'requeue', run: unrented })
  })

  test('one that is done is kept while a run still looks for another, whose offer might be its own', () => {
    const runs = [0, 1, 2].map(index => run(index, { step: 'done' }))
    const looking = [...runs, run(3, { step: 'waiting' })]
    expect(next({ runs: looking, waiting: [ready], isRenting: true })).toEqual({ do: 'wait' })
    expect(next({ runs: looking, waiting: [ready] })).toEqual({ do: 'release', instance: 7 })
    const refused = run(3, { step: 'failed', failedAt: 'waiting' })
    expect(next({ runs: [...runs, refused], waiting: [ready] })).toEqual({ do: 'requeue', run: refused })
  })

  test('none is requested until the next try, and a machine that becomes free takes the run earlier', () => {
    const runs = [run(0, { step: 'running' })]
    expect(next({ runs, sweep: sweep({ short }) })).toEqual({ do: 'wait' })
    expect(next({ runs, sweep: sweep({ short }), waiting: [ready] })).toMatchObject({ do: 'run', on: 7 })
    expect(next({ runs, sweep: sweep({ short }), now: 2300 })).toMatchObject({ do: 'run', on: undefined })
  })
})

describe('the limit of the whole sweep', () => {
  const limits = [
    { when: { kind: 'cost', dollars: 1 }, action: 'stop', asleep: false },
    { when: { kind: 'duration', seconds: 3600 }, action: 'stop', asleep: false },
  ] as const
  const limited = (change: Partial<Sweep>) =>
    sweep({ project: { ...project, limits: [...limits] }, ...change })

  test('counts all machines, including former ones and failed attempts', () => {
    const machines = {
      1: { micros: 400_000, at: 1000, perHour: 0 },
      2: { micros: 300_000, at: 1000, perHour: 360_000 },
    }
    const at = (now: number, attemptCost: number) =>
      next({
        sweep: limited({ machines, attemptCost }),
        runs: [run(0, { step: 'running', attemptCost: 100_000 })],
        now,
      }).do
    expect(at(1000, 0)).not.toBe('halt')
    expect(at(2999, 0)).not.toBe('halt')
    expect(at(3000, 0)).toBe('halt')
    expect(at(1000, 200_000)).toBe('halt')
  })

  test('leaves the commands their time before a stop', () => {
    const spec = { run: 'x', before_stop: { at_most: 60 } }
    const told = sweep({ project: { ...project, spec, price: 3_600_000, limits: [...limits] } })
    expect(next({ sweep: told, now: 4539 }).do).toBe('run')
    expect(next({ sweep: told, now: 4540 }).do).toBe('halt')
    // Two machines at $3.96/h for a minute.
    const spent = (micros: number) => ({ ...told, machines: { 1: { micros, at: 1000, perHour: 0 } } })
    expect(next({ sweep: spent(867_000) }).do).toBe('run')
    expect(next({ sweep: spent(869_000) }).do).toBe('halt')
    expect(sweepMostInAll({ ...told, project: { ...told.project, keptCost: 5, leftCost: 7 } })).toBe(
      1_000_012,
    )
  })

  test('counts the disks of machines that its runs have left', () => {
    let seen = sweep({ machines: { 7: { micros: 900, at: 1000, perHour: 0 } } })
    const observer = createSweepLimits({ now: () => 2000 }, {
      stored: {
        find: () => seen,
        putSoon(after: Sweep) {
          seen = after
        },
      },
      terms: { runsOf: () => [run(0, { step: 'waiting', instance: undefined })] },
      departures: { machinesOf: () => [7] },
      waiting: { all: () => [] },
    } as unknown as Parameters<typeof createSweepLimits>[1])
    const spent = { micros: 950, at: 2000, perHour: 4000 }
    observer.observe(seen, { account: { instances: { 7: { spent } } }, at: 2000 } as unknown as AccountPoll)
    expect(sweepCost(seen, [], 2000 + 1800)).toBe(2950)
  })

  test('ends it at its time, and counts from zero after it continues', () => {
    expect(next({ sweep: limited({}), now: 4599 }).do).toBe('run')
    expect(next({ sweep: limited({}), now: 4600 })).toMatchObject({
      do: 'halt',
      endsRuns: true,
      problem: { code: 'sweep_limit' },
    })
    expect(next({ sweep: limited({ since: { at: 4600, micros: 0, failed: 0 } }), now: 4600 }).do).toBe('run')
  })
})

test('where the first runs all fail, no other begins until the user continues', () => {
  const problem = { code: 'command_failed', message: 'Exit code 1.' }
  const failed = [0, 1, 2].map(index => run(index, { step: 'failed', failedAt: 'running', problem }))
  expect(next({ runs: failed })).toMatchObject({
    do: 'halt',
    endsRuns: false,
    problem: { code: 'sweep_failing' },
  })
  expect(next({ runs: failed.slice(0, 2) }).do).toBe('run')
  expect(next({ runs: [...failed.slice(0, 2), run(2, { step: 'done' })] }).do).toBe('run')
  expect(next({ runs: failed, sweep: sweep({ since: { at: 0, micros: 0, failed: 3 } }) }).do).toBe('run')
})

test('rents nothing after the user stopped a machine of it, until they continue', () => {
  const problem = { code: 'stopped_by_user', message: 'You stopped its machine.' }
  const stopped = run(0, { step: 'failed', failedAt: 'running', problem })
  const halted = { do: 'halt', endsRuns: false, problem: { code: 'sweep_halted_by_user' } }
  expect(next({ runs: [stopped] })).toMatchObject(halted)
  expect(next({ runs: [stopped], sweep: sweep({ attempts: [1, 0, 0, 0] }) }).do).toBe('run')
  const other = { ...problem, code: 'stopped' }
  expect(next({ runs: [{ ...stopped, problem: other }] }).do).toBe('run')
})

test.for(['stopped', 'halted', 'over'] as const)('one that is %s starts nothing', step => {
  expect(next({ sweep: sweep({ step }) })).toEqual({ do: 'wait' })
})

test('a stopped sweep ends its waiting machines, and a finished one lets them wait as agreed', () => {
  expect(next({ sweep: sweep({ step: 'stopped', keep: 600 }), waiting: [ready] })).toMatchObject({
    do: 'release',
  })
  expect(next({ sweep: sweep({ step: 'over', keep: 600 }), waiting: [ready] })).toEqual({ do: 'wait' })
})

test('a sweep that can’t go on yet says what it waits for, in whatever state its runs are', () => {
  const change = fc.record({
    step: fc.constantFrom(...RunStep.options),
    failedAt: fc.constantFrom('waiting', 'running'),
    withdrawing: fc.constantFrom(undefined, true),
    endedAt: fc.integer({ min: 1000, max: 2000 }),
  }) as fc.Arbitrary<Partial<Run>>
  const short = fc.record({
    problem: fc.constant({ code: 'no_offers', message: 'No offer fits.' }),
    since: fc.integer({ min: 1000, max: 2000 }),
    nextTryAt: fc.integer({ min: 1000, max: 3000 }),
  })
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 4 }),
      fc.option(short, { nil: undefined }),
      fc.boolean(),
      (changes, short, isThere) => {
        const one = sweep({ short })
        const runs = changes.map((given, index) => run(index, given))
        const waiting = isThere ? [{ instance: 7, isReady: false }] : []
        if (next({ sweep: one, runs, waiting }).do !== 'wait') return
        const waits = sweepWaiting(one, runs)
        expect(waits !== undefined || runs.some(isGoing) || runs.length === 4).toBe(true)
        if (waits) expect(waitingLine(waits, 2000)).toMatch(/^Waiting for .+ for .+\./)
        if (short && runs.length < 4)
          expect(waits).toMatchObject({ for: 'another', since: short.since, nextTryAt: short.nextTryAt })
      },
    ),
  )
})
