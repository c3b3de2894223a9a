import { liveDays } from './week/live-days.ts'

/** A week of world time, or BERTH_DAYS, from BERTH_SEED. Throws with what is broken, and the seed to see it again. */
export async function soakWeek(): Promise<string> {
  const days = Number(process.env['BERTH_DAYS'] ?? 7)
  const seed = Number(process.env['BERTH_SEED'] ?? Math.floor(Math.random() * 1_000_000))
  const { broken, figures } = await liveDays({ days, seed, speed: 2000, hurry: 20 })
  if (broken.length > 0) throw new Error(`seed ${seed}: ${broken.join('\n')}\n${figures}`)
  return `seed ${seed}: ${figures}`
}
