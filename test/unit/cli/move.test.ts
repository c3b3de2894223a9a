import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { move } from '#cli/move.ts'
import type { ProjectRunView } from '#shared/automation/run.ts'
import { accountView, projectRunView } from '../views.ts'

/** What `berth move` says of such a run without --yes, as the code of its refusal. */
async function refusalOf(given: Partial<ProjectRunView>): Promise<string> {
  const run = projectRunView({ step: 'running', ...given })
  const account = accountView({ runs: { [run.id]: run } })
  const state = { accounts: { [account.id]: account }, projects: {} }
  const call = { operands: [run.id], yes: false, connection: { state: async () => state } } as unknown as Call
  return Promise.resolve(move.run(call)).then(
    () => 'none',
    error => error.problem.code,
  )
}

test('asks about the move of a run, unless that can’t move anyway', async () => {
  expect(await refusalOf({ isMovable: true })).toBe('needs_yes')
  expect(await refusalOf({})).toBe('not_movable')
})
