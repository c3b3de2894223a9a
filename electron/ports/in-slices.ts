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
