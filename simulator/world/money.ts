/** Money is kept in whole micro-dollars, rates in whole micro-dollars per hour. */
export function micro(dollars: number): number {
  return Math.round(dollars * 1_000_000)
}

/** Micro-dollars as the interface writes them. */
export function dollars(micros: number): number {
  return micros / 1_000_000
}

/** The hours that a month of storage is charged as. */
export const HOURS_PER_MONTH = 720

/** What `gigabytes` of disk cost, in micro-dollars per hour; `storageCost` is dollars per GB and month. */
export function diskRate(storageCost: number, gigabytes: number): number {
  return Math.round((storageCost * gigabytes * 1_000_000) / HOURS_PER_MONTH)
}
