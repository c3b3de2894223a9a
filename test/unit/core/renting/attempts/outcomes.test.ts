import { expect, test } from 'vitest'
import { AttemptSeries } from '#core/renting/attempts/model.ts'
import { type AttemptParts, endSeries } from '#core/renting/attempts/outcomes.ts'
import { openCollection } from '#core/storage/collection.ts'
import { accountContext } from '#test/unit/core/account-context.ts'
import { MemoryFiles } from '#test/unit/core/memory-files.ts'

test('a series ends with its last attempt, so that a kill in between tries no other machine', async () => {
  const files = new MemoryFiles()
  const context = accountContext({ files, now: () => 1000 })
  const attempts = await openCollection(context, {
    name: 'attempts',
    schema: AttemptSeries,
    key: ({ id }) => id,
  })
  const series: AttemptSeries = {
    id: 'f0000000000000001',
    search: {
      query: { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 10 },
      filter: {},
      order: { column: 'price', descending: false },
    },
    request: { image: 'pytorch', access: 'ssh', disk: 20, env: [], ports: [] },
    limits: { attempts: 3, ceiling: 1, deadline: 600 },
    step: 'trying',
    attempts: [{ rental: 'r0000000000000001', offer: { id: 1 }, startedAt: 0 }],
    startedAt: 0,
  }
  await attempts.add(series)
  const parts = { context, attempts, secrets: { forget: async () => undefined } } as unknown as AttemptParts
  await endSeries(parts, series, { step: 'failed' })
  const written = files.writes.map(({ text }) => JSON.parse(text)[0] as AttemptSeries)
  expect(written.map(({ step, attempts: [first] }) => [step, first?.endedAt])).toEqual([
    ['trying', undefined],
    ['failed', 1000],
  ])
})
