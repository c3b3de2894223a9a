import type { Clock } from '#platform/platform.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { SharedConnection } from './sharing.ts'
import { closedHere } from './ssh-problems.ts'

/** A lease of an instance's connection that reconnects whenever the connection is lost. */
export interface SteadyLease {
  /** Waits for the connection and gives its lease. Rejects with `ssh_closed` after `close`. */
  get(): Promise<SharedConnection>
  close(): void
}

export interface SteadyNeeds {
  clock: Clock
  /** Connects; called again after a loss. */
  connect: () => Promise<SharedConnection>
  /** Called when the connection is lost, and after each failed reconnect. */
  lost: (problem: Problem) => void
  back: () => void
}

/** Milliseconds between attempts to reconnect; the last value repeats. */
const pauses = [250, 500, 1000, 2000, 4000, 8000]

/** Rejects if the first attempt to connect fails. */
export async function keepLease({ clock, connect, lost, back }: SteadyNeeds): Promise<SteadyLease> {
  let closed = false
  let cancelPause: () => void = () => undefined
  let current: Promise<SharedConnection>
  let heldLease: SharedConnection | undefined

  function hold(lease: SharedConnection): SharedConnection {
    if (closed) {
      lease.release()
      throw closedHere()
    }
    heldLease = lease
    void lease.connection.lost.then(problem => {
      lease.release()
      if (heldLease !== lease) return
      heldLease = undefined
      if (closed) return
      lost(problem ?? closedHere().problem)
      current = again(0)
      current.then(back, () => undefined)
    })
    return lease
  }

  async function again(attempt: number): Promise<SharedConnection> {
    await new Promise<void>(resolve => {
      const cancel = clock.after(pauses[Math.min(attempt, pauses.length - 1)] ?? 0, resolve)
      cancelPause = () => {
        cancel()
        resolve()
      }
    })
    if (closed) throw closedHere()
    try {
      return hold(await connect())
    } catch (error) {
      if (closed) throw closedHere()
      if (error instanceof BerthError) lost(error.problem)
      return again(attempt + 1)
    }
  }

  current = connect().then(hold)
  await current
  return {
    get: () => (closed ? Promise.reject(closedHere()) : current),
    close() {
      closed = true
      cancelPause()
      heldLease?.release()
      heldLease = undefined
      current.catch(() => undefined)
    },
  }
}
