import type { StatusChange } from '#shared/instance/instance.ts'

/** One state's place and width in the bar, as shares from 0 to 1. */
interface Span {
  change: StatusChange
  from: number
  width: number
  /** Seconds. */
  lasted: number
}

/** The history as shares of the time from its first change until now (epoch seconds). */
export function spansOf(history: readonly StatusChange[], now: number): Span[] {
  const begin = history[0]?.at ?? now
  const whole = Math.max(1, now - begin)
  return history.map((change, index) => {
    const until = Math.max(change.at, history[index + 1]?.at ?? now)
    const lasted = until - change.at
    return { change, from: (change.at - begin) / whole, width: lasted / whole, lasted }
  })
}
