import type { WatchdogRequest } from '#contract/automation/watchdog.ts'

/** The watchdog's config, except what its instance adds. Times in seconds; `told` is the account's time of writing. */
export interface ConfigValues extends WatchdogRequest {
  instance?: number
  url: string
  tick: number
  told?: number
}

/** The lines of the config file, each `name=value`. */
export function configLines({ instance, url, action, at, idle, lease, tick, told }: ConfigValues): string[] {
  const values = {
    instance,
    url,
    action,
    at,
    idle: idle?.seconds,
    below: idle?.below,
    lease,
    tick,
    told,
  }
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
}
