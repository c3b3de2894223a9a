import { expect, test } from 'vitest'
import { again, liveDays } from '../../../soak/week/live-days.ts'

/** Another half an hour: BERTH_SEED. A day: `npm run soak faces`. */
const seed = Number(process.env['BERTH_SEED'] ?? 1)

test('half an hour of changing faces and kills leaves no double, no orphan, and nothing believed gone', async () => {
  const time = { days: 1 / 48, seed, interval: 30, faces: true }
  const { broken, figures, tally } = await liveDays(time)
  expect(broken, `${figures}\n${again(time)}`).toEqual([])
  // It was a time in which things happened.
  for (const what of ['kills', 'faces', 'rentals', 'guards']) expect(tally.of(what), what).toBeGreaterThan(0)
}, 1_200_000)
