import type { RequestClock } from '#service/http/clock.ts'

interface Timer {
  at: number
  resolve: () => void
}

/** A clock that jumps to the next timer whenever everyone waits. */
export class VirtualClock implements RequestClock {
  #now = 0
  #timers: Timer[] = []
  /** Every requested sleep, in milliseconds. */
  readonly sleeps: number[] = []

  now(): number {
    return this.#now
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(milliseconds)
    await new Promise<void>((resolve, reject) => {
      const timer = { at: this.#now + milliseconds, resolve }
      this.#timers.push(timer)
      signal?.addEventListener('abort', () => {
        this.#timers = this.#timers.filter(other => other !== timer)
        reject(signal.reason)
      })
    })
  }

  /** Lets time pass until `work` is done. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    let done = false
    const finished = work.finally(() => {
      done = true
    })
    finished.catch(() => {})
    for (;;) {
      await new Promise(settled => setImmediate(settled))
      if (done) return finished
      const next = this.#timers.sort((a, b) => a.at - b.at).shift()
      if (!next) continue
      this.#now = next.at
      next.resolve()
    }
  }
}

/** A clock on which every sleep ends at once and is recorded. */
export class HurriedClock implements RequestClock {
  #now = 0
  readonly sleeps: number[] = []

  now(): number {
    return this.#now
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(milliseconds)
    this.#now += milliseconds
  }
}
