import { afterEach, expect, test } from 'vitest'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { TimedRuns } from '#core/runs/timed-runs.ts'
import { nextStart } from '#shared/project/start-time.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { projectRun } from './stored-run.ts'

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

test('a daily run begins once a day by the clocks of where its user is', async () => {
  const context = accountContext()
  const runs = await openStoredRuns(context, () => undefined)
  const timed = new TimedRuns(context, runs)
  const start = 'daily 08:10'
  process.env['TZ'] = 'Europe/Berlin'
  const startsAt = nextStart(start, Date.parse('2026-12-08T12:00:00Z') / 1000)
  const run = projectRun({ step: 'waiting', startsAt, project: { spec: { run: 'x', start } } })
  await runs.add(run)
  process.env['TZ'] = 'America/New_York'
  const next = async () => {
    const { startsAt } = runs.get(run.id)
    await timed.begin(runs.get(run.id))
    return startsAt === undefined ? undefined : new Date(startsAt * 1000).toISOString()
  }
  expect(await next()).toBe('2026-12-09T07:10:00.000Z')
  expect(await next()).toBe('2026-12-09T13:10:00.000Z')
  expect(await next()).toBeUndefined()
})
