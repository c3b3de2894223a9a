import type { Clock } from '#machine/machine.ts'

/**
 * Tries every `pause` milliseconds until there is an answer; undefined when there is none after `atMost` milliseconds.
 * Rejects when a try does, and with the signal's reason.
 */
export async function patientlyEvery<T>(
  pause: number,
  { clock, signal, atMost }: { clock: Clock; signal: AbortSignal; atMost: number },
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const start = clock.monotonic()
  for (;;) {
    signal.throwIfAborted()
    const answer = await attempt()
    if (answer !== undefined || clock.monotonic() - start >= atMost) return answer
    await new Promise<void>(resolve => {
      const cancel = clock.after(pause, finished)
      function finished(): void {
        cancel()
        signal.removeEventListener('abort', finished)
        resolve()
      }
      signal.addEventListener('abort', finished)
    })
  }
}
