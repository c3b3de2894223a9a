import { expect, test } from 'vitest'
import type { JobEffects } from '#core/projects/jobs/effects.ts'
import { createMoves } from '#core/projects/jobs/moves.ts'
import type { Job } from '#core/projects/model.ts'
import { openStoredJobs } from '#core/projects/stored-jobs.ts'
import type { Rentals } from '#core/renting/rentals.ts'
import { accountContext } from '#test/unit/core/account-context.ts'
import { MemoryFiles } from '#test/unit/core/memory-files.ts'

/** A job, and all that is on disk of it, one write after another. */
async function open(fields: Partial<Job>) {
  const files = new MemoryFiles()
  const context = accountContext({ files, now: () => 1000 })
  const jobs = await openStoredJobs(context)
  const job: Job = {
    id: 'j0000000000000001',
    project: 'p0000000000000001',
    folder: '/home/me/digits',
    name: 'digits',
    text: 'run: x',
    spec: { run: 'x' },
    stops: [],
    secretFiles: [],
    step: 'renting',
    createdAt: 0,
    attemptSeries: 'r0000000000000001',
    spentBefore: 0,
    moved: 0,
    ...fields,
  }
  await jobs.add(job)
  const effects = {
    run: ({ id }: Job, which: string) => jobs.intend(id, { [which]: 'x0000000000000001' }),
  } as unknown as JobEffects
  const attempts = { find: () => ({ tries: [{ cost: 5000 }] }) } as unknown as Rentals
  const moves = createMoves(context, { jobs, effects, attempts, viewOf: () => undefined })
  const written = (): Job[] => files.writes.map(({ text }) => JSON.parse(text)[0])
  return { job, moves, written }
}

test('earlier attempts are counted once, since the step is on disk with their cost', async () => {
  const { job, moves, written } = await open({})
  await moves.perform(job, { do: 'step', step: 'sending', instance: 7 })
  expect(written().map(({ step, instance, spentBefore }) => [step, instance, spentBefore])).toEqual([
    ['renting', undefined, 0],
    ['sending', 7, 5000],
  ])
})

test('a command that may have begun has its time on disk, from which checkpoints count', async () => {
  const { job, moves, written } = await open({ step: 'running', instance: 7 })
  await moves.perform(job, { do: 'run command' })
  const begun = written().filter(({ commandRun }) => commandRun !== undefined)
  expect(begun.map(({ startedAt }) => startedAt)).toEqual([1000])
})
