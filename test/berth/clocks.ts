import { systemClock } from '#platform/clock-and-random.ts'
import type { Clock } from '#platform/platform.ts'

/** Berth's seconds per second of this machine, since tests mostly wait for the next poll or retry. */
export const haste = 4

/**
 * This machine's clock, sped up by `haste` from now on. The world has a `speed` of its own. `sleeps` advances the wall
 * clock alone.
 */
export function hurriedClock(): Clock & { sleeps(seconds: number): void } {
  const begun = systemClock.now()
  let slept = 0
  return {
    now: () => begun + slept + (systemClock.now() - begun) * haste,
    sleeps(seconds) {
      slept += seconds * 1000
    },
    monotonic: () => systemClock.monotonic() * haste,
    after: (milliseconds, callback) => systemClock.after(milliseconds / haste, callback),
  }
}

interface Timer {
  at: number
  callback: () => void
}

/** A clock that moves only when a test moves it. `wall` is what `now` shows, which may be wrong. */
export class HandClock implements Clock {
  wall: number
  #monotonic = 1000
  #timers: Timer[] = []

  constructor(wall = 1_700_000_000_000) {
    this.wall = wall
  }

  now(): number {
    return this.wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#monotonic + milliseconds, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter(other => other !== timer)
    }
  }

  /** Milliseconds until each pending timer, soonest first. */
  get waiting(): number[] {
    return this.#timers.map(({ at }) => at - this.#monotonic).sort((a, b) => a - b)
  }

  /** Advances the time and runs the timers that come due. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds
    await flushPromises()
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers = this.#timers.filter(other => other !== next)
      this.#move(Math.max(next.at, this.#monotonic))
      next.callback()
      await flushPromises()
    }
    this.#move(end)
  }

  /**
   * Advances the time from timer to timer, or by ten seconds where none is pending, each time until `settled` what that
   * began, which may need further turns.
   */
  async passInSteps(milliseconds: number, settled: () => Promise<void>): Promise<void> {
    const end = this.#monotonic + milliseconds
    while (this.#monotonic < end) {
      const next = Math.max(this.waiting[0] ?? 10_000, 0)
      await this.pass(Math.min(next, end - this.#monotonic))
      await settled()
    }
  }

  /** Lets time pass, from timer to timer, until `work` is done. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    for (;;) {
      await flushPromises()
      if (isDone) return work
      await this.pass(this.waiting[0] ?? 0)
    }
  }

  /** Advances the time as in sleep: due timers run late, with the next `pass`. */
  sleep(milliseconds: number): void {
    this.#move(this.#monotonic + milliseconds)
  }

  #move(to: number): void {
    this.wall += to - this.#monotonic
    this.#monotonic = to
  }
}

/** A clock on which every timer fires at once, after its milliseconds, which are recorded. */
export class LeapingClock implements Clock {
  #monotonic = 0
  readonly waits: number[] = []

  now(): number {
    return this.#monotonic
  }

  monotonic(): number {
    return this.#monotonic
  }

  after(milliseconds: number, callback: () => void): () => void {
    this.waits.push(milliseconds)
    this.#monotonic += milliseconds
    const timer = setImmediate(callback)
    return () => clearImmediate(timer)
  }
}

/** Runs all promise callbacks that are ready. */
export async function flushPromises(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve))
}
