import { expect, test } from 'vitest'
import type { Moves } from '#core/projects/jobs/moves.ts'
import { createJobWork } from '#core/projects/jobs/work.ts'
import type { Job } from '#core/projects/model.ts'
import { openStoredJobs } from '#core/projects/stored-jobs.ts'
import { deferred } from '#ports/deferred.ts'
import { accountContext, freshAnswer } from '#test/unit/core/account-context.ts'
import { MemoryFiles } from '#test/unit/core/memory-files.ts'

test('a cancelled job is withdrawn once that is on disk, and goes on where it cannot be written', async () => {
  const files = new MemoryFiles()
  const context = accountContext({ files })
  const jobs = await openStoredJobs(context)
  const id = 'j0000000000000001'
  await jobs.add({
    id,
    project: 'p0000000000000001',
    folder: '/home/me/digits',
    name: 'digits',
    text: 'run: x',
    spec: { run: 'x' },
    stops: [],
    secretFiles: [],
    step: 'running',
    createdAt: 0,
    attemptSeries: 'f0000000000000001',
    instance: 7,
    spentBefore: 0,
    moved: 0,
  })
  const cleaned: Job[] = []
  const looked = deferred<void>()
  const moves: Moves = {
    async cleanUp(job) {
      cleaned.push(job)
      looked.resolve()
    },
    perform: async () => undefined,
    fail: async () => undefined,
  }
  const nothing = { find: () => undefined, all: () => [] } as never
  const work = createJobWork(context, {
    jobs,
    moves,
    attempts: nothing,
    runs: nothing,
    limits: nothing,
    viewOf: () => undefined,
  })

  const disk = deferred<void>()
  files.held = disk.promise
  files.refusing = 'ENOSPC'
  const cancelling = jobs.intend(id, { step: 'cancelled', withdrawing: true })
  work.onPoll(freshAnswer(context, {}))
  await new Promise(setImmediate)
  expect(cleaned).toEqual([])
  disk.resolve()
  await expect(cancelling).rejects.toThrow('ENOSPC')
  await looked.promise
  expect(cleaned.map(({ step, withdrawing }) => [step, withdrawing])).toEqual([['running', undefined]])
})
