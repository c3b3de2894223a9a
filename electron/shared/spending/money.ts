/** Whole micro-dollars: sums of any length are exact. */
export type Micros = number

/** Dollars, as the service writes them, in whole micro-dollars. */
export function micros(dollars: number): Micros {
  return Math.round(dollars * 1_000_000)
}
