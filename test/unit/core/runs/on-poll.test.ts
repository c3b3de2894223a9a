import { expect, test } from 'vitest'
import { createOnPoll } from '#core/runs/on-poll.ts'
import type { RunParts } from '#core/runs/parts.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { accountContext, freshAnswer } from '../account-context.ts'

test('a run that waits for an instance which is gone fails, and says so', async () => {
  const context = accountContext()
  const runs = await openStoredRuns(context)
  const id = 'x0000000000000001'
  await runs.add({
    id,
    instance: 7,
    name: 'train',
    command: 'true',
    afterwards: 'nothing',
    watchdog: false,
    stuckAfter: 0,
    afterwardsIfStuck: false,
    step: 'waiting',
    createdAt: 0,
    seen: 0,
    dropped: 0,
    lastLine: '',
  })
  const told: string[] = []
  const runAlerts = { tell: (_run: unknown, { title }: { title: string }) => told.push(title) }
  const onPoll = createOnPoll(context, { runs, runAlerts } as unknown as RunParts, {
    rentals: { find: () => undefined },
    asking: new Set(),
    work: () => undefined,
    wake: () => undefined,
    dismiss: async () => undefined,
  })
  for (let polls = 0; polls < 3; polls += 1) onPoll(freshAnswer(context, {}))
  expect(runs.get(id)).toMatchObject({ step: 'failed', problem: { code: 'no_such_instance' } })
  await runs.flush()
  expect(told).toEqual(['train will not start'])
})
