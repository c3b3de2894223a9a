import type { Clock } from '../../ports/clock.ts'

/** One loop for each name: it does what is left to do, and waits in between for a while, or until something wakes it. */
export interface Loops {
  /** Begins the loop of a name; one that goes on already, and waits without a time, is woken. */
  work(name: string): void
  /** Resolves after so many milliseconds, when it is woken, or when all ends. Without a time, only then. */
  until(name: string, milliseconds: number | undefined): Promise<void>
  wake(name: string): void
  /** Begins its loop, or wakes it even where it waits for a time. */
  restart(name: string): void
  /** Resolves when all ends. */
  readonly ended: Promise<void>
  /** Resolves once no loop goes on. */
  rest(): Promise<void>
}

/** `goOn` does all that is left for a name, and never rejects. */
export function createLoops(clock: Clock, ending: AbortSignal, goOn: (name: string) => Promise<void>): Loops {
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
    ended,
    work,
    wake,
    restart(name) {
      wake(name)
      work(name)
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
    async rest() {
      await Promise.allSettled(busy.values())
    },
  }
}
