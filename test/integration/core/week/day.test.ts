import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** Another half a day: BERTH_SEED. A week: `npm run soak week`. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

// Only world time matters to it: the limit is far beyond what a busy machine takes, and every step has one of its own.
const limit = 1_200_000

test(
  'half a day of flaky hosts, rivals, faults and kills leaves no orphan and no double, every guard kept and the sums right',
  async () => {
    const day = { days: 1 / 2, seed, interval: 120 }
    const { broken, figures, tally } = await liveDays(day)
    expect(broken, `${figures}\n${again(day)}`).toEqual([])
    // They were hours in which things happened.
    for (const what of ['kills', 'kills at created', 'attempts', 'guards', 'recoveries', 'outbid', 'top-ups'])
      expect(tally.of(what), what).toBeGreaterThan(0)
  },
  limit,
)
