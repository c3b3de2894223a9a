import { expect, test } from 'vitest'
import type { Run } from '#core/runs/model.ts'
import { createPrograms, type ProgramParts } from '#core/runs/programs.ts'
import { createMoves } from '#core/runs/steps.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { projectRun } from './stored-run.ts'

/** A run, its alerts, and all that is on disk of it, one write after another. */
async function open(run: Run) {
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
    rentals: { find: () => ({ attempts: [{ cost: 5000 }] }) },
  }
  const programs = createPrograms(context, parts as unknown as ProgramParts)
  const moves = createMoves(context, { ...parts, programs } as unknown as Parameters<typeof createMoves>[1])
  const written = (): Run[] => files.writes.map(({ text }) => JSON.parse(text)[0])
  return { run, runs, moves, told, written }
}
const goesOn = () => true

test('earlier attempts are counted once, since the step is on disk with their cost', async () => {
  const { run, moves, written } = await open(projectRun({ step: 'waiting', instance: undefined }))
  await moves.perform(run, { do: 'step', step: 'sending', instance: 7 }, goesOn)
  expect(written().map(({ step, instance, spentBefore }) => [step, instance, spentBefore])).toEqual([
    ['waiting', undefined, undefined],
    ['sending', 7, 5000],
  ])
})

test('a command that may have begun has its time on disk, from which checkpoints count', async () => {
  const { run, moves, written } = await open(
    projectRun({ program: undefined, begun: undefined, startedAt: undefined }),
  )
  await expect(moves.perform(run, { do: 'program' }, goesOn)).rejects.toThrow('not reached')
  const begun = written().filter(({ program }) => program !== undefined)
  expect(begun.map(({ startedAt }) => startedAt)).toEqual([1000])
})

test('a command that ended with its outbid machine begins anew on the next one, which is destroyed as agreed', async () => {
  const failed = { code: 'command_failed', message: 'The command ended with exit code 143.' }
  const outcome = { failedAt: 'running' as const, problem: failed }
  const { run, runs, moves } = await open(
    projectRun({ step: 'fetching', instance: 7, code: 143, outcome, afterwards: 'stop' }),
  )
  await moves.perform(run, { do: 'move' }, goesOn)
  const after = runs.get(run.id)
  expect([after.step, after.code, after.outcome, after.afterwards]).toEqual([
    'waiting',
    undefined,
    undefined,
    'destroy',
  ])
})
