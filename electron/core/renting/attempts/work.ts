import { type AttemptMove, nextAttemptMove } from './decide.ts'
import { type AttemptSeries, openAttempt } from './model.ts'
import { type AttemptParts, closeAttempt, dropAttempt, endSeries, followAttempts } from './outcomes.ts'
import { createRentNext } from './rent-next.ts'
import type { AttemptSnapshots } from './snapshots.ts'

/** Moves series of attempts from one machine to the next, in one loop per series. */
export interface AttemptWork {
  /** Continues until it has to wait for a poll. */
  pursue(id: string): Promise<void>
  /** The first moment after `after` at which a series continues by itself, epoch seconds of the account's time. */
  dueAt(after: number): number
}

export function createAttemptWork(parts: AttemptParts, snapshots: AttemptSnapshots): AttemptWork {
  const { context, attempts, rentals, rentalOf } = parts
  const { ending, now } = context
  const rentNext = createRentNext(parts)
  /** Series with a running loop. */
  const busy = new Set<string>()
  const due = new Map<string, number>()

  async function pursue(id: string): Promise<void> {
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      for (;;) {
        const series = await followAttempts(parts, attempts.get(id), snapshots.instances())
        if (series.step !== 'trying' || ending.aborted) break
        const rental = rentalOf(openAttempt(series)?.rental ?? '')
        const move = nextAttemptMove(series, snapshots.of(series, rental))
        if (move.do === 'wait') {
          if (move.until === undefined) due.delete(id)
          else due.set(id, move.until)
          break
        }
        due.delete(id)
        if (!(await perform(series, move))) break
      }
    } finally {
      busy.delete(id)
    }
  }

  /** Resolves with whether there is more to do at once. */
  async function perform(
    series: AttemptSeries,
    move: Exclude<AttemptMove, { do: 'wait' }>,
  ): Promise<boolean> {
    const current = openAttempt(series)
    switch (move.do) {
      case 'search':
        return rentNext(series)
      case 'probeSsh':
        snapshots.probeSsh(series, () => void pursue(series.id))
        return false
      case 'drop':
        await dropAttempt(parts, series, { ...move.drop, at: now() })
        return true
      case 'take back':
        if (current) await rentals.discard(current.rental)
        return false
      case 'close':
        if (!current) return true
        snapshots.forget(current.rental)
        return closeAttempt(parts, series, current)
      case 'end':
        await endSeries(parts, series, move)
        return false
    }
  }

  return {
    pursue,
    dueAt: after => Math.min(...[...due.values()].filter(moment => moment > after)),
  }
}
