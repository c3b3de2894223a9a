import { describe, expect, test } from 'vitest'
import type { Rentals } from '#core/renting/rentals.ts'
import { type EndParts, RunEnds } from '#core/runs/ends.ts'
import { processGone } from '#core/runs/messages.ts'
import type { Run } from '#core/runs/model.ts'
import { type ProgramParts, RunPrograms } from '#core/runs/programs.ts'
import { RunRental } from '#core/runs/run-rental.ts'
import { RunSteps, type StepParts } from '#core/runs/steps.ts'
import { openStoredRuns, type StoredRuns } from '#core/runs/stored-runs.ts'
import type { Problem } from '#shared/problem.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { commandRun, projectRun } from './stored-run.ts'

const failedAttempt = { id: 'r0000000000000001', step: 'ready', attempts: [{ cost: 5000 }] }

/**
 * A run, its alerts, and all that is on disk of it, one write after another. `rental`: that of its machine. `command`: how
 * its command ends, and what stops its machine. `prepare`: what happens until its machine can be left. `more`: other parts.
 */
async function open(
  run: Run,
  rental: object = failedAttempt,
  command?: { end: object; stop?: Problem },
  prepare: (runs: StoredRuns) => Promise<unknown> = async () => undefined,
  more: object = {},
) {
  const files = new MemoryFiles()
  const context = accountContext({ files, now: () => 1000 })
  const runs = await openStoredRuns(context, () => undefined)
  await runs.add(run)
  const told: string[] = []
  const alerts = {
    tell: (_run: unknown, { title }: { title: string }) => told.push(title),
    note: () => undefined,
    nameOf: () => 'RTX 4090',
  }
  const parts = {
    runs,
    alerts,
    machines: {
      viewOf: () => undefined,
      inside: async (_run: unknown, use: (...there: unknown[]) => unknown) => use({}, {}),
    },
    watchdog: { ready: () => Promise.reject(new Error('not reached')), tellIfStale: async () => undefined },
    nodes: { of: () => [] },
    facts: { isGone: () => false, stopOf: () => command?.stop },
    plannedMoves: { prepare: () => prepare(runs).then(() => undefined) },
  }
  const programs = new RunPrograms(context, parts as unknown as ProgramParts)
  const played = command ? { advance: async () => command.end } : programs
  const rentals = { find: () => rental, cancel: async () => undefined }
  const ofRental = new RunRental(context, rentals as unknown as Rentals, parts.machines)
  const ends = new RunEnds(context, { ...parts, rental: ofRental } as unknown as EndParts)
  const steps = new RunSteps(context, {
    ...parts,
    programs: played,
    rental: ofRental,
    ends,
    ...more,
  } as unknown as StepParts)
  const written = (): Run[] => files.writes.map(({ text }) => JSON.parse(text)[0])
  return { run, runs, steps, told, written }
}
test.each([
  [true, 100, 30],
  [false, 100, 900],
  // Its command has never begun.
  [false, undefined, 30],
])(
  'what a machine has alone is all where its download is gone from here: %s, %s',
  async (isThere, startedAt, seconds) => {
    const left = { instance: 7, since: 1000, until: 9000, seconds: 30, paths: ['out'], before: 0 }
    const weighed: unknown[] = []
    const more = {
      folders: { hasDownloaded: async () => isThere },
      departures: { leave: async (...[, , leave]: unknown[]) => weighed.push(leave) },
    }
    const { run, runs, steps } = await open(
      projectRun({ leaving: [left], startedAt, lost: { seconds: 30, isUpTo: false }, lostCost: 300 }),
      undefined,
      undefined,
      undefined,
      more,
    )
    await steps.cleanUp(run)
    expect(weighed).toEqual([{ ...left, seconds }])
    expect(runs.get(run.id).leaving).toBeUndefined()
    // And its run loses that, unless it's brought from there.
    const lost = seconds === 30 ? { seconds: 30, isUpTo: false } : { seconds: 900, isUpTo: true }
    expect(runs.get(run.id)).toMatchObject({ lost, lostCost: 10 * lost.seconds })
  },
)

const following = { goesOn: () => true, rest: async () => undefined }

test('earlier attempts are counted once, since the step is on disk with their cost', async () => {
  const { run, steps, written } = await open(projectRun({ step: 'waiting', instance: undefined }))
  await steps.perform(run, { do: 'step', step: 'sending', instance: 7 }, following)
  expect(written().map(({ step, instance, spentBefore }) => [step, instance, spentBefore])).toEqual([
    ['waiting', undefined, undefined],
    ['sending', 7, 5000],
  ])
})

describe('a run that is cancelled before its machine is ready', () => {
  const cancelled = { step: 'cancelled', instance: undefined, endedAt: 900, withdrawing: true } as const

  test('costs what the machine did until it was destroyed, on disk once that is known', async () => {
    const rental = { ...failedAttempt, step: 'trying', attempts: [{ cost: 5000 }, { step: 'waiting' }] }
    const { run, runs, steps } = await open(projectRun(cancelled), rental)
    await steps.cleanUp(run)
    expect(runs.get(run.id)).toMatchObject({ withdrawing: true })
    Object.assign(rental, {
      step: 'cancelled',
      attempts: [{ cost: 5000 }, { step: 'cancelled', cost: 2000 }],
    })
    await steps.cleanUp(run)
    const after = runs.get(run.id)
    expect([after.spentBefore, after.attemptCost, after.withdrawing]).toEqual([7000, 7000, undefined])
  })

  test('costs that of one that was ready meanwhile, too', async () => {
    const spent = { micros: 1000, at: 640, perHour: 10_000 }
    const ready = { id: failedAttempt.id, step: 'ready', attempts: [{ cost: 5000 }, { spent }] }
    const { run, runs, steps } = await open(projectRun(cancelled), ready)
    await steps.cleanUp(run)
    expect(runs.get(run.id).spentBefore).toBe(5000 + 1000 + 1000)
  })

  test('counts no attempt twice that it counted when it failed', async () => {
    const counted = { rental: failedAttempt.id, micros: 5000 }
    const before = { ...cancelled, spentBefore: 5000, attemptCost: 5000, counted }
    const { run, runs, steps } = await open(projectRun(before), { ...failedAttempt, step: 'failed' })
    await steps.cleanUp(run)
    expect(runs.get(run.id)).toMatchObject({ spentBefore: 5000, attemptCost: 5000 })
  })
})

test('a command that may have begun has its time on disk, from which checkpoints count', async () => {
  const { run, steps, written } = await open(
    projectRun({ program: undefined, begun: undefined, startedAt: undefined }),
  )
  await expect(steps.perform(run, { do: 'program' }, following)).rejects.toThrow('not reached')
  const begun = written().filter(({ program }) => program !== undefined)
  expect(begun.map(({ startedAt }) => startedAt)).toEqual([1000])
})

test('a command that ended with its outbid machine begins anew on the next one, which is destroyed as agreed', async () => {
  const failed = { code: 'command_failed', message: 'The command ended with exit code 143.' }
  const outcome = { failedAt: 'running' as const, problem: failed }
  const { run, runs, steps } = await open(
    projectRun({ step: 'fetching', instance: 7, code: 143, outcome, afterwards: 'stop' }),
  )
  await steps.perform(run, { do: 'move' }, following)
  const after = runs.get(run.id)
  expect([after.step, after.code, after.outcome, after.afterwards]).toEqual([
    'waiting',
    undefined,
    undefined,
    'destroy',
  ])
})

test('a run whose next machine has no room says where its results are', async () => {
  const more = { departures: { machinesOf: () => [6] } }
  const moved = projectRun({ step: 'running', moves: 1 })
  const { run, runs, steps } = await open(moved, undefined, undefined, undefined, more)
  await steps.giveUp(run, { do: 'program' }, { code: 'disk_full', message: 'Its disk is full.' })
  expect(runs.get(run.id).problem).toMatchObject({
    message: 'Its disk is full. Its newest results are on #6, which is kept for a while.',
    advice: expect.stringContaining('Start #6'),
  })
})

test('a run that its user ends while it is to move stays where it is', async () => {
  const moving = projectRun({ movingSince: 900, instance: 7 })
  const { run, runs, steps } = await open(moving, failedAttempt, undefined, runs =>
    runs.update(moving.id, { movingSince: undefined, endedByUser: true }),
  )
  await steps.perform(run, { do: 'move' }, following)
  expect(runs.get(run.id)).toMatchObject({ step: 'running', instance: 7, endedByUser: true })
  const left = await open(moving)
  await left.steps.perform(left.run, { do: 'move' }, following)
  expect(left.runs.get(run.id)).toMatchObject({ step: 'waiting', moves: 1 })
})

test('a command that ends with its machine fails for what stops that, not by its exit code', async () => {
  const problem = { code: 'stopped', message: 'A limit stopped its machine.' }
  const ended = async (code: number, stop: typeof problem | undefined) => {
    const { run, runs, steps } = await open(projectRun(), failedAttempt, { end: { code }, stop })
    await steps.perform(run, { do: 'program' }, following)
    return runs.get(run.id)
  }
  expect(await ended(143, problem)).toMatchObject({ step: 'ending', failedAt: 'running', problem })
  expect(await ended(143, undefined)).toMatchObject({ problem: { code: 'command_failed' } })
  expect((await ended(0, problem)).problem).toBeUndefined()
})

test.each([
  ['ends well', { code: 0 }],
  ['ends with an error', { code: 1 }],
  ['ends with an error that its file retries elsewhere', { code: 137 }],
  ['disappears', { problem: processGone }],
  ['has its results here', undefined],
])('a run that is cancelled while its command %s stays so, and tells no more', async (_, end) => {
  const spec = { run: 'x', results: 'out', outbid: { elsewhere: 1 }, retry: { times: 1, on: [137] } }
  const going = projectRun({ begun: true, project: { spec }, ...(end ? {} : { step: 'fetching' }) })
  const parts = { runs: undefined as StoredRuns | undefined }
  const cancel = async () => {
    await parts.runs?.intend(going.id, { step: 'cancelled', withdrawing: true })
    return end ?? true
  }
  const more = { programs: { advance: cancel }, folders: { fetch: cancel } }
  const { runs, steps, told } = await open(going, failedAttempt, undefined, undefined, more)
  parts.runs = runs
  await steps.perform(going, { do: end ? 'program' : 'fetch' }, following)
  expect(runs.get(going.id)).toMatchObject({ step: 'cancelled', withdrawing: true })
  expect(runs.get(going.id).movingSince).toBeUndefined()
  expect(told).toEqual([])
})

test('a command whose process disappeared has its results downloaded before its machine is stopped', async () => {
  const ended = async (run: Run, stop?: Problem) => {
    const { steps, runs, told } = await open(run, failedAttempt, { end: { problem: processGone }, stop })
    await steps.perform(run, { do: 'program' }, following)
    const { step, afterwards, outcome, problem } = runs.get(run.id)
    return { step, afterwards, outcome, problem: problem?.code, told }
  }
  const outcome = { failedAt: 'running', problem: processGone }
  const results = projectRun({ project: { spec: { run: 'x', results: 'out' } } })
  expect(await ended(results)).toMatchObject({ step: 'fetching', afterwards: 'stop', outcome, told: [] })
  expect(await ended(projectRun())).toMatchObject({ step: 'ending', problem: 'process_gone' })
  expect(await ended({ ...results, step: 'setup' })).toMatchObject({
    step: 'ending',
    problem: 'process_gone',
  })
  // Its machine was paused and came back while nobody watched.
  const moving = projectRun({
    begun: true,
    project: { spec: { run: 'x', results: 'out', outbid: { elsewhere: 1 } } },
  })
  expect(await ended(moving)).toMatchObject({ step: 'running', problem: undefined, told: [] })
  expect(await ended({ ...moving, moves: 1 })).toMatchObject({ step: 'fetching', outcome })
  // A command outside a project tells at once.
  const command = commandRun({ fetch: '/root/out' })
  expect(await ended(command)).toMatchObject({ step: 'fetching', outcome, told: ['training has failed'] })
})
