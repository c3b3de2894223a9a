import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import type { Clock } from '../../../../../electron/ports/clock.ts'

interface Waiting {
  at: number
  /** Milliseconds of an interval's period. */
  every: number | undefined
  callback: () => void
}

/** The result of `setTimeout`. It never keeps the process alive, since time advances from outside. */
class VirtualTimer {
  readonly id: number

  constructor(id: number) {
    this.id = id
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return false
  }

  [Symbol.toPrimitive](): number {
    return this.id
  }
}

/**
 * The time of this process, in whole milliseconds since 1970. It moves only by `advance`, which runs due timers one
 * after the other, each at its own time.
 */
export class VirtualTime {
  #now = 0
  #ids = 0
  readonly #waiting = new Map<number, Waiting>()

  /** Sets the time of the start. */
  begin(now: number): void {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** The time of the next timer; undefined without one. */
  next(): number | undefined {
    let next: number | undefined
    for (const { at } of this.#waiting.values()) if (next === undefined || at < next) next = at
    return next
  }

  advance(to: number): void {
    for (;;) {
      const due = this.#due(to)
      if (!due) break
      const [id, waiting] = due
      this.#now = Math.max(this.#now, waiting.at)
      if (waiting.every === undefined) this.#waiting.delete(id)
      else waiting.at += waiting.every
      waiting.callback()
    }
    this.#now = Math.max(this.#now, to)
  }

  /** Waits at least 1 ms, or timers that set timers would stop time. */
  set(callback: () => void, milliseconds: number, again = false): VirtualTimer {
    const after = Math.max(1, Math.ceil(Number(milliseconds) || 0))
    this.#ids += 1
    this.#waiting.set(this.#ids, { at: this.#now + after, every: again ? after : undefined, callback })
    return new VirtualTimer(this.#ids)
  }

  clear(timer: unknown): void {
    if (timer instanceof VirtualTimer) this.#waiting.delete(timer.id)
    else if (typeof timer === 'number') this.#waiting.delete(timer)
  }

  #due(to: number): [number, Waiting] | undefined {
    let first: [number, Waiting] | undefined
    for (const one of this.#waiting) if (one[1].at <= to && (!first || one[1].at < first[1].at)) first = one
    return first
  }
}

/** Berth's clock port on virtual time. */
export function virtualClock(time: VirtualTime): Clock {
  return {
    now: () => time.now(),
    monotonic: () => time.now(),
    after(milliseconds, callback) {
      const timer = time.set(callback, milliseconds)
      return () => time.clear(timer)
    },
  }
}

/** Replaces the timers and clocks of this process, also for imported modules. */
export function liveBy(time: VirtualTime): void {
  const set =
    (again: boolean) =>
    (callback: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) =>
      time.set(() => callback(...args), milliseconds, again)
  const clear = (timer: unknown) => time.clear(timer)
  replace(globalThis, 'setTimeout', set(false))
  replace(globalThis, 'setInterval', set(true))
  replace(globalThis, 'clearTimeout', clear)
  replace(globalThis, 'clearInterval', clear)
  replace(timers, 'setTimeout', (milliseconds = 0, value?: unknown, options: { signal?: AbortSignal } = {}) =>
    wait(time, milliseconds, value, options.signal),
  )
  replace(AbortSignal, 'timeout', (milliseconds: number) => {
    const late = new AbortController()
    time.set(() => late.abort(new DOMException('late', 'TimeoutError')), milliseconds)
    return late.signal
  })
  replace(performance, 'now', () => time.now())
  replace(Date, 'now', () => time.now())
  syncBuiltinESMExports()
}

function wait(time: VirtualTime, milliseconds: number, value: unknown, signal?: AbortSignal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      time.clear(timer)
      reject(signal?.reason)
    }
    const timer = time.set(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    }, milliseconds)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

function replace(where: object, name: string, by: (...args: never[]) => unknown): void {
  Object.defineProperty(where, name, { value: by, configurable: true, writable: true })
}
