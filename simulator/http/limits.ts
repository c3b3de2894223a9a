import { ServiceError } from '../errors.ts'

interface Bucket {
  tokens: number
  /** Real milliseconds of the last refill. */
  filled: number
}

/**
 * Rate limits of section 8: a token bucket per key and endpoint, `max(1, threshold)` requests at once,
 * refilled at `threshold` a second of real time.
 */
export class RateLimits {
  readonly #buckets = new Map<string, Bucket>()

  /** Takes a token. Throws 429 with a `detail` that names the threshold when none is left. */
  take(key: string, endpoint: string, threshold: number): void {
    const capacity = Math.max(1, threshold)
    const now = performance.now()
    const name = `${key} ${endpoint}`
    const bucket = this.#buckets.get(name) ?? { tokens: capacity, filled: now }
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filled) / 1000) * threshold)
    bucket.filled = now
    this.#buckets.set(name, bucket)
    if (bucket.tokens < 1) throw tooMany(threshold)
    bucket.tokens -= 1
  }
}

/** The 429 of an endpoint. */
export function tooMany(threshold: number): ServiceError {
  return new ServiceError(429, {
    detail: `API requests too frequent: endpoint threshold=${threshold.toFixed(1)}`,
  })
}
