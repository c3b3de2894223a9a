import type { ErrorCode } from './http/error-messages.ts'

/** The fields of a {@link ServiceError}. */
export interface ServiceErrorParts {
  code: ErrorCode
  /** HTTP status of the answer; 0 without one. */
  status: number
  /** What happened and why, as a sentence for the user. */
  message: string
  /** What to try. */
  advice: string
  /** Seconds after which a repeat makes sense. */
  retryAfter?: number
  /** Whether a write may have taken effect without a good answer. */
  ambiguous?: boolean
  /** Whether the answer has the service's form, and is not that of a proxy or of a server in its place. */
  isServices?: boolean
  /** The service's own words, cleaned. */
  detail?: string
  /** JSON path in the answer, for `bad_answer`. */
  path?: string
  /** Failed attempts counted against a two-factor method (section 7). */
  failCount?: number
  /** Epoch seconds at which a two-factor method's lockout ends (section 7). */
  lockedUntil?: number
}

/**
 * Any failure of a request to the service. It never holds a key, a secret or a header, and has no `cause`, since the
 * underlying errors contain the request.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly status: number
  readonly advice: string
  readonly ambiguous: boolean
  readonly retryAfter: number | undefined
  readonly isServices: boolean
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
    this.isServices = parts.isServices ?? false
    this.detail = parts.detail
    this.path = parts.path
    this.failCount = parts.failCount
    this.lockedUntil = parts.lockedUntil
  }

  /**
   * Whether the service refused the key, or the key lacks a permission. Deployments also send `auth_error` with 400
   * and 404 for a wrong key.
   */
  get keyRefused(): boolean {
    if (this.code === 'auth_error') return [400, 401, 403, 404].includes(this.status)
    return this.status === 401 || this.status === 403
  }
}

/** Whether the service has no such list, or denies it to this key, as opposed to a temporary failure. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code !== 'bad_answer' &&
    [200, 400, 403, 404, 405, 410, 501].includes(error.status)
  )
}
