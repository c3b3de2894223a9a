import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { listRuns } from '#cli/project-runs.ts'
import { accountView, projectRunView } from '../views.ts'

test('a list of runs says what hinders one that goes on', async () => {
  const run = projectRunView({ step: 'running', problem: { code: 'not_stored', message: 'No room there.' } })
  const account = accountView({ runs: { [run.id]: run } })
  const state = {
    accounts: { [account.id]: account },
    projects: { [run.project]: { id: run.project, name: 'sums', folder: '/x' } },
  }
  let out = ''
  const call = {
    connection: { state: async () => state },
    write: (text: string) => {
      out += text
    },
    say: () => undefined,
  }
  await listRuns(call as unknown as Call, 'sums')
  expect(out).toContain('No room there.')
})
