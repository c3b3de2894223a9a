import type { WatchdogWish } from '../../../electron/contract/automation/watchdog.ts'
import { route } from '../../place/route.svelte.ts'

let asked: { instance: number; wish: WatchdogWish } | undefined

/** Opens the watchdog's form of an instance, filled in so. */
export function askForWatchdog(instance: number, wish: WatchdogWish): void {
  asked = { instance, wish }
  route.go(`instances/${instance}/watchdog`)
}

/** What was asked for on an instance, once. */
export function takeAsked(instance: number): WatchdogWish | undefined {
  if (asked?.instance !== instance) return undefined
  const { wish } = asked
  asked = undefined
  return wish
}
