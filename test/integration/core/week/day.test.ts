import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** Another day: BERTH_SEED. A week: `npm run soak week`. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

// Only world time matters to it: the limit is far beyond what a busy machine takes, and every step has one of its own.
const limit = 600_000

test(
  'a day of flaky hosts, rivals, faults and kills leaves no orphan and no double, every guard kept and the sums right',
  async () => {
    const day = { days: 1, seed, interval: 120 }
    const { broken, figures, tally } = await liveDays(day)
    expect(broken, `${figures}\n${again(day)}`).toEqual([])
    // It was a day in which things happened.
    for (const what of [
      'kills',
      'kills at created',
      'failovers',
      'guards',
      'recoveries',
      'outbid',
      'top-ups',
    ])
      expect(tally.of(what), what).toBeGreaterThan(0)
  },
  limit,
)
