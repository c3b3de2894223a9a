import type { ErrorCode } from './http/sentences.ts'

/** What a {@link ServiceError} is made of. */
export interface ServiceErrorParts {
  code: ErrorCode
  /** HTTP status of the answer; 0 when there was none. */
  status: number
  /** What happened and why, as a sentence for the user. */
  message: string
  /** What to try. */
  advice: string
  /** Seconds after which a repeat makes sense. */
  retryAfter?: number
  /** True when a write may have taken effect although no good answer came back. */
  ambiguous?: boolean
  /** The service's own words, cleaned. */
  detail?: string
  /** JSON path in the answer, for `bad_answer`. */
  path?: string
  /** Failed attempts counted against a two-factor method (section 7). */
  failCount?: number
  // interface 3.2: Failed attempts lock one method for 15 minutes, not the account
  /** Epoch seconds at which a two-factor method's lockout ends (section 7). */
  lockedUntil?: number
}

/**
 * Every way in which a request to the service can fail. It never holds a key, a secret or a header, and has no
 * `cause`, since the errors beneath carry the request.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly status: number
  readonly advice: string
  readonly ambiguous: boolean
  readonly retryAfter: number | undefined
  readonly detail: string | undefined
  readonly path: string | undefined
  readonly failCount: number | undefined
  readonly lockedUntil: number | undefined

  constructor(parts: ServiceErrorParts) {
    super(parts.message)
    this.code = parts.code
    this.status = parts.status
    this.advice = parts.advice
    this.ambiguous = parts.ambiguous ?? false
    this.retryAfter = parts.retryAfter
    this.detail = parts.detail
    this.path = parts.path
    this.failCount = parts.failCount
    this.lockedUntil = parts.lockedUntil
  }

  /**
   * Whether the service refused the key, or what it may do. Deployments say `auth_error` of a wrong key with 400 and
   * 404, too.
   */
  get keyRefused(): boolean {
    if (this.code === 'auth_error') return [400, 401, 403, 404].includes(this.status)
    return this.status === 401 || this.status === 403
  }
}

/** Whether the service has no such list, or keeps it from this key, rather than failing just now. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code !== 'bad_answer' &&
    [200, 400, 403, 404, 405, 410, 501].includes(error.status)
  )
}
