/** A promise that is settled from outside (`Promise.withResolvers` came after Node 20). */
export interface Deferred<T> {
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
