import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

/**
 * Makes this process live so many times as fast: what it waits for comes so much sooner, and its monotonic clock runs
 * so much faster. Time limits, backoff and polling keep their proportions in a world whose days pass in half a minute.
 */
export function hurry(times: number): void {
  const { setTimeout: once, setInterval: often } = globalThis
  const wait = timers.setTimeout
  const now = performance.now.bind(performance)
  replace(globalThis, 'setTimeout', (callback: () => void, milliseconds = 0, ...rest: []) =>
    once(callback, milliseconds / times, ...rest),
  )
  replace(globalThis, 'setInterval', (callback: () => void, milliseconds = 0, ...rest: []) =>
    often(callback, milliseconds / times, ...rest),
  )
  replace(timers, 'setTimeout', (milliseconds = 0, value?: unknown, options = {}) =>
    wait(milliseconds / times, value, options),
  )
  replace(performance, 'now', () => now() * times)
  syncBuiltinESMExports()
}

function replace(where: object, name: string, by: (...args: never[]) => unknown): void {
  Object.defineProperty(where, name, { value: by, configurable: true, writable: true })
}
