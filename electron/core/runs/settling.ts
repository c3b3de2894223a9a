import type { Clock } from '../../ports/clock.ts'
import { settleRun } from '../../ssh/runs/runs.ts'
import type { RunBook } from './book.ts'
import type { Run } from './run.ts'
import type { RunWork } from './work.ts'

/** Tells watchdogs that nothing is left to do for a run. Until one has heard it, it ends the instance by itself. */
export interface Settling {
  /** Tells it where that is still to be told. Never rejects: what failed is still to be told then. */
  settle(id: string): Promise<void>
}

export function createSettling({
  book,
  clock,
  inside,
}: {
  book: Pick<RunBook, 'find' | 'update'>
  clock: Clock
  inside: RunWork['inside']
}): Settling {
  const under = new Map<string, Promise<void>>()

  async function tell(run: Run): Promise<void> {
    try {
      const told = await inside(run, async connection => {
        await settleRun(connection, clock, run.id, 'over')
        return true
      })
      if (told) await book.update(run.id, { untold: undefined })
    } catch {
      // The next look at the account tries again.
    }
  }

  return {
    settle(id) {
      const run = book.find(id)
      if (!run?.untold) return Promise.resolve()
      const telling = under.get(id) ?? tell(run).finally(() => under.delete(id))
      under.set(id, telling)
      return telling
    },
  }
}
