import type { Clock } from '#platform/platform.ts'

/** Milliseconds before each retry of something that failed; the last one repeats. */
const pauses = [1000, 2000, 5000, 15_000, 60_000]
/** Failures in a row after which the pauses grow no more. */
export const longestAfter = pauses.length

/** Milliseconds before the next try, after `fails` earlier failures in a row. */
export function retryPause(fails: number): number {
  return pauses[Math.min(fails, pauses.length - 1)] ?? 0
}

/** One loop per name: it does the pending work, and waits in between for a time, or until it is woken. */
export type Loops = ReturnType<typeof createLoops>

/** `goOn` does all pending work of a name, and never rejects. */
export function createLoops(clock: Clock, ending: AbortSignal, goOn: (name: string) => Promise<void>) {
  const busy = new Map<string, Promise<void>>()
  const resting = new Map<string, { wake: () => void; timed: boolean }>()
  const ended = new Promise<void>(resolve => {
    ending.addEventListener(
      'abort',
      () => {
        resolve()
        for (const { wake } of resting.values()) wake()
      },
      { once: true },
    )
  })
  function work(name: string): void {
    if (ending.aborted) return
    if (busy.has(name)) {
      const rest = resting.get(name)
      if (rest?.timed === false) rest.wake()
      return
    }
    const working = goOn(name).finally(() => busy.delete(name))
    busy.set(name, working)
  }
  const wake = (name: string) => resting.get(name)?.wake()

  return {
    /** Resolves when Berth ends. */
    ended,
    /** Starts the loop of a name, or wakes it where it waits without a time. */
    work,
    wake,
    /** Starts the loop, or wakes it, even where it waits for a time. */
    restart(name: string): void {
      wake(name)
      work(name)
    },
    /** Resolves after that many milliseconds, when woken, or when Berth ends. Without a time, only the latter two. */
    until(name: string, milliseconds: number | undefined): Promise<void> {
      if (ending.aborted) return Promise.resolve()
      return new Promise(resolve => {
        let cancel: () => void = () => undefined
        const rest = { wake, timed: milliseconds !== undefined }
        function wake(): void {
          cancel()
          if (resting.get(name) === rest) resting.delete(name)
          resolve()
        }
        resting.set(name, rest)
        if (milliseconds !== undefined) cancel = clock.after(milliseconds, wake)
      })
    },
    /** Resolves once all loops have ended. */
    async rest(): Promise<void> {
      await Promise.allSettled(busy.values())
    },
  }
}
