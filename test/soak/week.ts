import { again, liveDays } from './week/live-days.ts'

/**
 * Lives a week of world time, or BERTH_DAYS, from BERTH_SEED, with a poll every minute or every BERTH_INTERVAL seconds.
 * Throws with the failures and how to reproduce them.
 */
export async function soakWeek(): Promise<string> {
  const days = Number(process.env['BERTH_DAYS'] ?? 7)
  const seed = Number(process.env['BERTH_SEED'] ?? Math.floor(Math.random() * 1_000_000))
  const interval = Number(process.env['BERTH_INTERVAL'] ?? 60)
  const { broken, figures } = await liveDays({ days, seed, interval })
  if (broken.length > 0)
    throw new Error(`${broken.join('\n')}\n${figures}\n${again({ days, seed, interval })}`)
  return `seed ${seed}: ${figures}`
}
