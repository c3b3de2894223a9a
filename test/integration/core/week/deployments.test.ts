import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** BERTH_SEED gives another half hour, `npm run soak deployments` a day. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

test('half an hour of changing deployments and kills leaves no orphan, double or false loss', async () => {
  const halfHour = { days: 1 / 48, seed, interval: 30, deployments: true }
  const { broken, figures, tally } = await liveDays(halfHour)
  expect(broken, `${figures}\n${again(halfHour)}`).toEqual([])
  // Things did happen in it.
  for (const what of ['kills', 'deployments', 'rentals', 'guards'])
    expect(tally.of(what), what).toBeGreaterThan(0)
}, 1_200_000)
