import type { Clock } from '../../ports/clock.ts'

/** WakeableSleeps of several loops, each by its name: for a while, or until something wakes it. */
export interface WakeableSleeps {
  /** Resolves after so many milliseconds, when it is woken, or when all ends. Without a time, only then. */
  until(name: string, milliseconds: number | undefined): Promise<void>
  wake(name: string): void
  /** Wakes one that sleeps without a time: what has a time of its own keeps it. */
  nudge(name: string): void
  /** Resolves when all ends. */
  readonly ended: Promise<void>
}

export function createWakeableSleeps(clock: Clock, ending: AbortSignal): WakeableSleeps {
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
  return {
    ended,
    wake: name => resting.get(name)?.wake(),
    nudge(name) {
      const rest = resting.get(name)
      if (rest?.timed === false) rest.wake()
    },
    until(name, milliseconds) {
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
  }
}
