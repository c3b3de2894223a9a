/** Amounts are whole micro-dollars, rates whole micro-dollars per hour. */
export function micro(dollars: number): number {
  return Math.round(dollars * 1_000_000)
}

/** Micro-dollars in dollars, as the interface writes them. */
export function dollars(micros: number): number {
  return micros / 1_000_000
}

/** The hours of a month of storage. */
export const HOURS_PER_MONTH = 720

/** The cost of `gigabytes` of disk in micro-dollars per hour; `storageCost` is dollars per GB and month. */
export function diskRate(storageCost: number, gigabytes: number): number {
  return Math.round((storageCost * gigabytes * 1_000_000) / HOURS_PER_MONTH)
}
