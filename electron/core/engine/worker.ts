import type { Clock } from '#platform/platform.ts'
import { deferred } from '#platform/tasks.ts'
import type { Problem } from '#shared/problem.ts'
import { problemOf } from '../bridge/problems.ts'

/** Milliseconds before each retry of something that failed; the last one repeats. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** Failures in a row after which the pauses grow no more. */
export const longestAfter = pauses.length

/** Milliseconds before the next try, after `fails` earlier failures in a row. */
export function retryPause(fails: number): number {
  return pauses[Math.min(fails, pauses.length - 1)] ?? 0
}

/**
 * What follows a turn:
 * - `again`: the next turn, at once;
 * - `rest`: nothing, until the id is woken;
 * - `by`: the same, and the account is polled by then, in epoch seconds of the account's time;
 * - `after`: the next turn in so many milliseconds, which only `hurry` shortens;
 * - `wokenAfter`: the next turn once it is woken, but not within so many milliseconds.
 */
export type Next = 'again' | 'rest' | { by: number | undefined } | { after: number } | { wokenAfter: number }

/** Why a turn failed, after `fails` earlier ones in a row. */
export interface FailedTurn {
  error: unknown
  problem: Problem
  fails: number
  /** Milliseconds until the next try, unless it is decided otherwise. */
  pause: number
}

export interface WorkerOptions<Id> {
  clock: Clock
  quitting: AbortSignal
  /** Takes an id's next step: reads its record, decides, acts. */
  turn(id: Id): Promise<Next>
  /** Notes what hinders an id, and may decide what follows instead of a retry after a growing pause. */
  hindered?(id: Id, failure: FailedTurn): Promise<Next | undefined> | Next | undefined
}

interface Loop {
  /** Resolves once the loop has come to rest. */
  over: Promise<void>
  /** Failures in a row. */
  fails: number
  /** How it was called during its turn: the turn may not have seen the reason. */
  called?: 'wake' | 'hurry' | undefined
  /** While it waits: from when on a wake counts, in monotonic milliseconds, and what ends the wait. */
  waiting?: { opensAt: number; end: () => void } | undefined
  /** Whether it waits for a wake alone. */
  isAtRest?: boolean
  /** Those who wait for the turn after the present one. */
  asked?: ReturnType<typeof deferred<void>> | undefined
}

/**
 * Works on records by turns, in one loop per id, so never twice at once for the same. A failed turn is repeated after a
 * growing pause; a call during a turn is followed by another one. Nothing begins once Berth ends.
 */
export class Worker<Id extends string | number> {
  readonly #options: WorkerOptions<Id>
  readonly #loops = new Map<Id, Loop>()
  /** When the account is to be polled for an id at rest, epoch seconds of the account's time. */
  readonly #due = new Map<Id, number>()

  constructor(options: WorkerOptions<Id>) {
    this.#options = options
    const end = () => {
      for (const { waiting, asked } of this.#loops.values()) {
        waiting?.end()
        asked?.resolve()
      }
    }
    options.quitting.addEventListener('abort', end, { once: true })
  }

  /** Something has changed: the next turn comes now, or after the present one. A pause before a retry stays. */
  wake(id: Id): void {
    this.#call(id, 'wake')
  }

  /** The same, and cuts a pause short. */
  hurry(id: Id): void {
    this.#call(id, 'hurry')
  }

  /** A turn that begins after this call, at once or after the present one. Rejects as it fails; it is retried then. */
  once(id: Id): Promise<void> {
    if (this.#options.quitting.aborted) return Promise.resolve()
    const asked = this.#loops.get(id)?.asked ?? deferred<void>()
    this.#call(id, 'hurry', asked)
    return asked.promise
  }

  /** For use within a turn: waits so many milliseconds, or until it is hurried or Berth ends. */
  async pause(id: Id, milliseconds: number): Promise<void> {
    const loop = this.#loops.get(id)
    if (!loop || loop.called === 'hurry') {
      if (loop) loop.called = undefined
      return
    }
    await this.#wait(loop, { opensAt: Number.POSITIVE_INFINITY, milliseconds })
  }

  /** Whether a turn is running, or follows without a wake. */
  isBusy(id: Id): boolean {
    const loop = this.#loops.get(id)
    return loop !== undefined && !loop.isAtRest
  }

  /** Resolves once an id has nothing to do until it is woken. */
  async settled(id: Id): Promise<void> {
    await this.#loops.get(id)?.over
  }

  /** The first moment after `after` by which an id at rest wants a poll, in epoch seconds of the account's time. */
  dueAt(after: number): number {
    return Math.min(...[...this.#due.values()].filter(moment => moment > after))
  }

  /** Resolves once all turns have ended. */
  async flush(): Promise<void> {
    await Promise.all([...this.#loops.values()].map(({ over }) => over))
  }

  #call(id: Id, how: 'wake' | 'hurry', asked?: Loop['asked']): void {
    const { clock, quitting } = this.#options
    if (quitting.aborted) return
    const loop = this.#loops.get(id)
    if (!loop) {
      const begun: Loop = { over: Promise.resolve(), fails: 0, asked }
      this.#loops.set(id, begun)
      begun.over = this.#run(id, begun)
      return
    }
    loop.asked ??= asked
    if (!loop.waiting) loop.called = loop.called === 'hurry' ? loop.called : how
    else if (how === 'hurry' || clock.monotonic() >= loop.waiting.opensAt) loop.waiting.end()
  }

  /** Never rejects. */
  async #run(id: Id, loop: Loop): Promise<void> {
    const { clock, quitting } = this.#options
    while (!quitting.aborted) {
      loop.called = undefined
      this.#due.delete(id)
      const next = await this.#turn(id, loop)
      if (quitting.aborted) break
      const isOpen = next === 'rest' || (next !== 'again' && 'by' in next)
      if (next === 'again' || loop.called === 'hurry' || (isOpen && loop.called)) continue
      if (isOpen) {
        if (next !== 'rest' && next.by !== undefined) this.#due.set(id, next.by)
        break
      }
      if ('after' in next)
        await this.#wait(loop, { opensAt: Number.POSITIVE_INFINITY, milliseconds: next.after })
      else {
        loop.isAtRest = true
        await this.#wait(loop, { opensAt: clock.monotonic() + next.wokenAfter })
        loop.isAtRest = false
      }
    }
    this.#loops.delete(id)
  }

  async #turn(id: Id, loop: Loop): Promise<Next> {
    const { quitting, turn, hindered } = this.#options
    const { asked } = loop
    loop.asked = undefined
    try {
      const next = await turn(id)
      loop.fails = 0
      asked?.resolve()
      return next
    } catch (error) {
      const { fails } = loop
      const pause = retryPause(fails)
      loop.fails += 1
      asked?.reject(error)
      if (quitting.aborted || !hindered) return { after: pause }
      const failure = { error, problem: problemOf(error), fails, pause }
      const next = await Promise.resolve(failure)
        .then(failed => hindered(id, failed))
        .catch(() => undefined)
      return next ?? { after: pause }
    }
  }

  #wait(loop: Loop, { opensAt, milliseconds }: { opensAt: number; milliseconds?: number }): Promise<void> {
    const { clock, quitting } = this.#options
    if (quitting.aborted) return Promise.resolve()
    return new Promise(resolve => {
      let cancel: () => void = () => undefined
      const end = () => {
        cancel()
        loop.waiting = undefined
        resolve()
      }
      loop.waiting = { opensAt, end }
      if (milliseconds !== undefined) cancel = clock.after(milliseconds, end)
    })
  }
}
