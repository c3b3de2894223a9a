import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** Another hour: BERTH_SEED. A day: `npm run soak deployments`. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

test('an hour of changing deployments and kills leaves no double, no orphan, and nothing believed gone', async () => {
  const hour = { days: 1 / 24, seed, interval: 30, deployments: true }
  const { broken, figures, tally } = await liveDays(hour)
  expect(broken, `${figures}\n${again(hour)}`).toEqual([])
  // It was an hour in which things happened.
  for (const what of ['kills', 'deployments', 'rentals', 'guards'])
    expect(tally.of(what), what).toBeGreaterThan(0)
}, 1_200_000)
