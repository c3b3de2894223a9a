import type { Clock } from '#platform/platform.ts'
import { orAborted, sleep } from '#platform/tasks.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { keepLease } from '#ssh/connection/reconnect.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { isConnectionFull } from '#ssh/connection/ssh-problems.ts'

/** Losses in a row without progress after which it gives up. */
const mostLosses = 5
/** Milliseconds between a loss and the next try. */
const pause = 250

interface Lossy {
  clock: Clock
  connect: () => Promise<SharedConnection>
  signal: AbortSignal
  /** Called when the connection is lost and is being made again. */
  waiting?: (why: Problem) => void
  /** Milliseconds without a connection after which it gives up; else it waits as long as that takes. */
  mostApart?: number
  /** Whether an error means a lost connection; `again` after an earlier loss. */
  isLoss: (error: unknown, again: boolean) => boolean
  /** The progress so far, in bytes. */
  moved: () => number
}

/**
 * Runs work over an instance's connection, and repeats it after losses while it makes progress, and over another
 * connection where that one is full. The work's signal aborts with `signal`, and when the instance is gone. Throws the
 * signal's reason, the last try's error, or why there has been no connection for a while.
 */
export async function overLosses<Result>(
  { clock, connect, signal, waiting, mostApart = Number.POSITIVE_INFINITY, isLoss, moved }: Lossy,
  work: (connection: Connection, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController()
  const ended = AbortSignal.any([signal, gone.signal])
  let lostAt: number | undefined
  const keep = () =>
    keepLease({
      clock,
      connect,
      lost(why) {
        if (ended.aborted) return
        lostAt ??= clock.monotonic()
        const isTooLong = clock.monotonic() - lostAt >= mostApart
        if (why.code === 'no_such_instance' || isTooLong) gone.abort(new BerthError(why))
        else waiting?.(why)
      },
      back() {
        lostAt = undefined
      },
    })
  let lease = await keep()
  const close = () => lease.close()
  ended.addEventListener('abort', close, { once: true })
  let losses = 0
  let again = false
  try {
    for (;;) {
      const before = moved()
      try {
        ended.throwIfAborted()
        return await work((await orAborted(lease.get(), ended)).connection, ended)
      } catch (error) {
        ended.throwIfAborted()
        const isFull = isConnectionFull(error)
        if (!isFull && !isLoss(error, again)) throw error
        again = true
        losses = moved() > before ? 0 : losses + 1
        if (losses >= mostLosses) throw error
        await sleep(clock, pause)
        if (!isFull) continue
        lease.close()
        lease = await keep()
      }
    }
  } finally {
    ended.removeEventListener('abort', close)
    lease.close()
  }
}
