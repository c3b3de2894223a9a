import { expect, test } from 'vitest'
import { Worker } from '#core/engine/worker.ts'
import type { Run } from '#core/runs/model.ts'
import { createRunWork, type RunWork } from '#core/runs/scheduler.ts'
import type { Moves } from '#core/runs/steps.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { deferred } from '#platform/tasks.ts'
import { accountContext, freshAnswer } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { projectRun } from './stored-run.ts'

test('a cancelled run ends once that is on disk, and continues if it can’t be written', async () => {
  const files = new MemoryFiles()
  const context = accountContext({ files })
  const runs = await openStoredRuns(context, () => undefined)
  const { id, ...run } = projectRun()
  await runs.add({ id, ...run })
  const cleaned: Run[] = []
  const looked = deferred<void>()
  const moves = {
    async cleanUp(run: Run) {
      cleaned.push(run)
      looked.resolve()
    },
    perform: async () => true,
  } as unknown as Moves
  const nothing = { find: () => undefined, all: () => [] } as never
  const { platform, ending } = context
  const worker: Worker<string> = new Worker({ clock: platform.clock, ending, turn: id => work.turn(id) })
  const work: RunWork = createRunWork(context, {
    runs,
    moves,
    worker,
    checkpoints: worker,
    machines: { viewOf: () => undefined },
    rentals: nothing,
    limits: nothing,
    isSweepSpent: () => false,
    asking: new Set(),
    nodes: { of: () => [], isCutOff: async () => false },
    gone: new Set(),
    departures: { costOf: () => ({}), keepOnlyFor: () => undefined },
  })

  const disk = deferred<void>()
  files.held = disk.promise
  files.refusing = 'ENOSPC'
  const cancelling = runs.intend(id, { step: 'cancelled', withdrawing: true })
  work.onPoll(freshAnswer(context, {}))
  await new Promise(setImmediate)
  expect(cleaned).toEqual([])
  disk.resolve()
  await expect(cancelling).rejects.toThrow('ENOSPC')
  await looked.promise
  expect(cleaned.map(({ step, withdrawing }) => [step, withdrawing])).toEqual([['running', undefined]])
})
