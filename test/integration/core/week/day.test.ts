import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** BERTH_SEED gives other hours, `npm run soak week` a week. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

// Only world time matters: the limit is far above what a busy machine takes, and every step has its own.
const limit = 1_200_000

test(
  'six hours of faults and kills obeys each guard, with no orphan, double or wrong sum',
  async () => {
    const day = { days: 1 / 4, seed, interval: 120 }
    const { broken, figures, tally } = await liveDays(day)
    expect(broken, `${figures}\n${again(day)}`).toEqual([])
    // Things did happen in these hours.
    for (const what of ['kills', 'kills at created', 'attempts', 'guards', 'recoveries', 'outbid', 'top-ups'])
      expect(tally.of(what), what).toBeGreaterThan(0)
  },
  limit,
)
