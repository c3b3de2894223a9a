import { expect, test } from 'vitest'
import { nextRunMove } from '#core/runs/decide.ts'
import { projectRun } from './stored-run.ts'

const problem = { code: 'no_offers', message: 'No offer matches.' }
const snapshot = { awaited: { step: 'failed', problem }, instance: undefined, limit: undefined, now: 1000 }

test('a command that was to be tried again elsewhere keeps its failure where no machine is found', () => {
  const run = { ...projectRun(), step: 'waiting' as const, instance: undefined }
  expect(nextRunMove(run, snapshot)).toMatchObject({ do: 'fail', problem })
  const retried = { times: 1, before: 1, code: 137, at: 900 }
  expect(nextRunMove({ ...run, retried }, snapshot)).toMatchObject({
    do: 'fail',
    problem: {
      code: 'no_offers',
      message:
        'No offer matches. Before, the command ended with exit code 137 (killed, often out of memory).',
    },
  })
})
