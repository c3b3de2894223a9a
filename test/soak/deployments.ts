import { again, liveDays } from './week/live-days.ts'

/**
 * Lives a day, or BERTH_DAYS, from BERTH_SEED, on a deployment that changes every few minutes, with a poll every
 * half minute or every BERTH_INTERVAL seconds. Throws with the failures and how to reproduce them.
 */
export async function soakDeployments(): Promise<string> {
  const days = Number(process.env['BERTH_DAYS'] ?? 1)
  const seed = Number(process.env['BERTH_SEED'] ?? Math.floor(Math.random() * 1_000_000))
  const interval = Number(process.env['BERTH_INTERVAL'] ?? 30)
  const campaign = { days, seed, interval, deployments: true }
  const { broken, figures } = await liveDays(campaign)
  if (broken.length > 0) throw new Error(`${broken.join('\n')}\n${figures}\n${again(campaign)}`)
  return `seed ${seed}: ${figures}`
}
