import { isQuiet } from '../alerts/page-notices.ts'
import type { Relay, Told } from './record.ts'

export type RelayMove =
  | { do: 'rest' }
  /** For so many milliseconds, or until another alert is told. */
  | { do: 'wait'; milliseconds: number }
  /** Puts these into one message. */
  | { do: 'gather'; alerts: readonly Told[] }
  | { do: 'send' }
  /** The message was refused for a day. */
  | { do: 'giveUp' }

/** Milliseconds in which further alerts join a message. */
const gathered = 5_000
/** Milliseconds between looks for the end of quiet hours, which also cover sleep and a changed clock. */
const glance = 30_000
const minute = 60_000
/** Milliseconds after each failed attempt; the last one repeats. */
const pauses = [
  10_000,
  30_000,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
  40 * minute,
  60 * minute,
]
/** So many attempts take a day: counted, since a clock may be set and a computer sleep. */
const mostTries = pauses.length + 23

/**
 * A pure function of the stored relay, the time (epoch milliseconds of this machine, which may jump) and the minute of
 * the user's day.
 */
export function relayMove(
  { waiting, sending, quietHours }: Relay,
  now: number,
  minuteOfDay: number,
): RelayMove {
  if (sending) {
    if (sending.tries >= mostTries) return { do: 'giveUp' }
    return afterWait(sending.triedAt, sending.wait, now) ?? { do: 'send' }
  }
  const quiet = isQuiet(quietHours, minuteOfDay)
  const alerts = waiting.filter(({ critical }) => !quiet || (critical && quietHours.critical))
  const [first] = alerts
  if (first) return afterWait(first.at, gathered, now) ?? { do: 'gather', alerts }
  return waiting.length > 0 ? { do: 'wait', milliseconds: glance } : { do: 'rest' }
}

/** Undefined once it has passed, also where the clock was set back. */
function afterWait(since: number, milliseconds: number, now: number): RelayMove | undefined {
  const left = since + milliseconds - now
  if (now < since || left <= 0) return undefined
  return { do: 'wait', milliseconds: Math.min(left, glance) }
}

/**
 * Milliseconds until the next attempt, after `tries` failed ones. `asked`: what the receiver asked for. One that refuses
 * the message is asked once an hour.
 */
export function waitAfter(
  tries: number,
  { refused = false, asked = 0 }: { refused?: boolean; asked?: number },
): number {
  const longest = 60 * minute
  const pause = refused ? longest : (pauses[tries - 1] ?? longest)
  return Math.min(Math.max(pause, asked), longest)
}
