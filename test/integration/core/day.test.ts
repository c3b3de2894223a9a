import { expect, test } from 'vitest'
import { liveDays } from '../../soak/week/live-days.ts'

/** Another day: BERTH_SEED. A week: `npm run soak week`. */
const seed = Number(process.env['BERTH_SEED'] ?? 5)

test('a day of flaky hosts, rivals, faults and kills leaves no orphan, no double, every guard kept and the sums right', {
  timeout: 240_000,
}, async () => {
  const { broken, figures, tally } = await liveDays({ days: 1, seed, speed: 2400, hurry: 20 })
  expect(broken, `seed ${seed}: ${figures}`).toEqual([])
  // It was a day in which things happened.
  for (const what of ['kills', 'failovers', 'guards', 'recoveries', 'outbid'])
    expect(tally.of(what), what).toBeGreaterThan(0)
})
