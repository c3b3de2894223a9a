import type { Clock } from './platform.ts'

/** A promise that is settled from outside (`Promise.withResolvers` came after Node 20). */
interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  // A rejection that nobody awaits yet must not count as unhandled.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}

/** Settles as `work` does, and rejects with the signal's reason as soon as that is aborted. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  signal.throwIfAborted()
  const aborted = deferred<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Resolves after these milliseconds, and rejects with the signal's reason as soon as that is aborted. */
export async function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const elapsed = deferred<void>()
  const cancel = clock.after(milliseconds, elapsed.resolve)
  await orAborted(elapsed.promise, signal).finally(cancel)
}

/** Returns a queue that runs one task at a time, in order, even after tasks that failed. */
export function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Milliseconds of work at a time. */
const slice = 5

/** Gives a function to call before each step: once a slice is used up, it returns a promise to wait for. */
export function inSlices(): () => Promise<void> | undefined {
  let began = 0
  return () => {
    const now = performance.now()
    if (began === 0) began = now
    if (now - began < slice) return undefined
    began = 0
    return new Promise(done => setImmediate(done))
  }
}
