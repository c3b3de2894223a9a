import type { Course } from '#contract/instance/metrics.ts'
import type { MoneySample } from '#contract/spending/history.ts'
import type { Micros } from '#contract/spending/money.ts'

/** The time shown in seconds, and the number of values. */
export const lineSpan = 86_400
export const lineSteps = 48
/** The line needs that many values, and six hours of them: a shorter one would be a speck at the edge. */
const leastKnown = 4
const leastReach = 12

/**
 * The credit of the last 24 hours, one value per half hour, up to now; undefined where too little is known.
 * `now`: epoch seconds of the account's time.
 */
export function creditSparkline(
  samples: readonly MoneySample[],
  now: number,
  credit: Micros,
): Course | undefined {
  const step = lineSpan / lineSteps
  const line = new Array<number | null>(lineSteps).fill(null)
  for (const { at, credit: amount } of samples) {
    const place = lineSteps - 1 - Math.floor((now - at) / step)
    if (amount !== undefined && place >= 0 && place < lineSteps) line[place] = amount
  }
  line[lineSteps - 1] = credit
  const knownSteps = line.filter(value => value !== null).length
  const reach = lineSteps - line.findIndex(value => value !== null)
  return knownSteps < leastKnown || reach < leastReach ? undefined : line
}
