import type { InstanceState, InstanceView } from '../../contract/instance/instance.ts'
import { type Micros, micros } from '../../contract/spending/money.ts'

/** What an instance costs, micro-dollars per hour. GPUs are charged from `running`, the disk from creation on. */
export interface Prices {
  running?: Micros
  disk?: Micros
}

/** `dph_total` holds the disk, `dph_base` the GPUs alone. Dollars per hour as the service gives them. */
export function prices(dphTotal: number | undefined, dphBase: number | undefined): Prices {
  const running = believable(dphTotal)
  const gpus = believable(dphBase)
  if (running === undefined || gpus === undefined) return running === undefined ? {} : { running }
  return { running, disk: Math.max(0, running - gpus) }
}

/** Dollars per hour; no machine costs more, and one nonsensical price must not spoil every sum. */
const highestPrice = 1_000_000

/** A price as the service gives it, in micro-dollars; undefined when it cannot be one. */
export function believable(dollars: number | undefined): Micros | undefined {
  return dollars !== undefined && dollars >= 0 && dollars <= highestPrice ? micros(dollars) : undefined
}

/** Whether the GPUs are charged in this state. A silent or offline host is charged as if it ran, to be safe. */
function gpusCharged(state: InstanceState): boolean {
  return state === 'running' || state === 'stopping' || state === 'silent' || state === 'other'
}

export function costPerHour(state: InstanceState, { running, disk }: Prices): Micros {
  return (gpusCharged(state) ? running : disk) ?? 0
}

/**
 * Spent up to now. At first sight nothing but the creation time is known: what it costs now is taken to have been
 * its cost since then. From there on each change of the price per hour begins a new stretch.
 * `at` in epoch seconds of the account's time.
 */
export function spending(
  before: InstanceView['spent'] | undefined,
  perHour: Micros,
  startedAt: number | undefined,
  at: number,
): InstanceView['spent'] {
  if (!before) return { micros: grown(perHour, at - (startedAt ?? at)), at, perHour }
  if (before.perHour === perHour) return before
  return { micros: before.micros + grown(before.perHour, at - before.at), at, perHour }
}

function grown(perHour: Micros, seconds: number): Micros {
  return Math.max(0, Math.floor((perHour * seconds) / 3600))
}
