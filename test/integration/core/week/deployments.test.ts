import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** BERTH_SEED gives another hour, `npm run soak deployments` a day. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

test('an hour of changing deployments and kills leaves no orphan, double or false loss', async () => {
  const hour = { days: 1 / 24, seed, interval: 30, deployments: true }
  const { broken, figures, tally } = await liveDays(hour)
  expect(broken, `${figures}\n${again(hour)}`).toEqual([])
  // Things did happen in this hour.
  for (const what of ['kills', 'deployments', 'rentals', 'guards'])
    expect(tally.of(what), what).toBeGreaterThan(0)
}, 1_200_000)
