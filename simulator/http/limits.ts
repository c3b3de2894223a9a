import type { Deployment, Profile } from '../deployment.ts'
import { refusal, ServiceError, TextError } from '../errors.ts'
import published from './intervals.json' with { type: 'json' }
import { type Route, routeName } from './route.ts'

/** The clock for rate limits, in milliseconds from any origin. */
export type LimitClock = () => number

/** This machine's own time. */
export const realClock: LimitClock = () => performance.now()

interface Bucket {
  tokens: number
  /** The last refill, by the limits' clock. */
  filled: number
}

/** The calls of one key on one endpoint that still count. */
interface Calls {
  times: number[]
  /** Closed until then, after a call that came too early. */
  shutUntil: number
}

/** The rate limits of the deployment in force, per key and endpoint, whatever the id in the path. */
export class RateLimits {
  readonly #deployment: Deployment
  readonly #now: LimitClock
  readonly #buckets = new Map<string, Bucket>()
  readonly #calls = new Map<string, Calls>()

  constructor(deployment: Deployment, now: LimitClock) {
    this.#deployment = deployment
    this.#now = now
  }

  /** Counts a call. Throws 429 where it comes too early. */
  take(key: string, route: Route): void {
    if (this.#deployment.profile.limits === 'intervals') this.#takeInterval(key, route)
    else if (route.threshold !== undefined) this.#takeToken(`${key} ${routeName(route)}`, route.threshold)
  }

  /** Section 8: `max(1, threshold)` requests at once, refilled at `threshold` a second. */
  #takeToken(name: string, threshold: number): void {
    const capacity = Math.max(1, threshold)
    const now = this.#now()
    const bucket = this.#buckets.get(name) ?? { tokens: capacity, filled: now }
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filled) / 1000) * threshold)
    bucket.filled = now
    this.#buckets.set(name, bucket)
    if (bucket.tokens < 1) throw tooMany(this.#deployment.profile.refusal, threshold)
    bucket.tokens -= 1
  }

  /** A call that is too early is not counted, but may close the endpoint for longer. */
  #takeInterval(key: string, route: Route): void {
    const interval = publishedInterval(routeName(route))
    if (!interval) return
    const { seconds, calls = 1, penalty } = interval
    const now = this.#now()
    const name = `${key} ${routeName(route)}`
    const { times, shutUntil } = this.#calls.get(name) ?? { times: [], shutUntil: Number.NEGATIVE_INFINITY }
    const counted = times.filter(time => now - time < seconds * 1000)
    if (now < shutUntil || counted.length >= calls) {
      const until = penalty === undefined ? shutUntil : now + penalty * 1000
      this.#calls.set(name, { times: counted, shutUntil: until })
      throw tooMany(this.#deployment.profile.refusal, seconds / calls)
    }
    this.#calls.set(name, { times: [...counted, now], shutUntil })
  }
}

/** How often one endpoint and method may be called: `calls` times (default once) within so many seconds. */
export interface Interval {
  seconds: number
  calls?: number
  /** Seconds for which the endpoint stays closed after a call that came too early. */
  penalty?: number
}

/** The public deployment's published limit of a route, by its method and path. Other endpoints have no limit. */
export function publishedInterval(name: string): Interval | undefined {
  const limits: Readonly<Record<string, Interval>> = published
  return limits[name]
}

const WORDS = 'API requests too frequent'

/** The 429 of an endpoint, in the form that a deployment gives it. */
export function tooMany(form: Profile['refusal'], threshold: number): ServiceError {
  const number = `endpoint threshold=${threshold.toFixed(1)}`
  switch (form) {
    case 'detail':
      return new ServiceError(429, { detail: `${WORDS}: ${number}` })
    case 'msg':
      return refusal(429, 'rate_limit_exceeded', `${WORDS} ${number}`)
    case 'text':
      return new TextError(429, 'text/plain', WORDS)
    case 'text-threshold':
      return new TextError(429, 'text/plain', `${WORDS}: ${number}`)
    case 'html':
      return new TextError(
        429,
        'text/html',
        '<html><head><title>429 Too Many Requests</title></head><body><h1>429 Too Many Requests</h1></body></html>',
      )
  }
}
