import type { WatchdogRequest } from '../../contract/automation/watchdog.ts'

/** What a watchdog goes by, beside what its instance adds. Seconds; `told` is the account's time when it was written. */
export interface ConfigValues extends WatchdogRequest {
  instance?: number
  url: string
  tick: number
  told?: number
}

/** The lines of its file: a name and a value each. */
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
