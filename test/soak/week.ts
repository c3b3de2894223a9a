import { liveDays } from './week/live-days.ts'

/** A week of world time, or BERTH_DAYS, from BERTH_SEED. Throws with what is broken, and the seed to see it again. */
export async function soakWeek(): Promise<string> {
  const days = Number(process.env['BERTH_DAYS'] ?? 7)
  const seed = Number(process.env['BERTH_SEED'] ?? Math.floor(Math.random() * 1_000_000))
  const { broken, figures } = await liveDays({ days, seed, interval: 60 })
  if (broken.length > 0)
    throw new Error(
      `${broken.join('\n')}\n${figures}\nAgain: BERTH_SEED=${seed} BERTH_DAYS=${days} npm run soak week`,
    )
  return `seed ${seed}: ${figures}`
}
