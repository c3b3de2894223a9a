import { ServiceError } from '../service-error.ts'
import type { AnswerProblem } from './answer.ts'
import {
  type ErrorCode,
  errorSentence,
  isServiceCode,
  type OwnCode,
  refusalSentence,
} from './error-messages.ts'
import type { Operation } from './operation.ts'
import type { ProxyFailed } from './proxy.ts'

/** Failures without a whole answer. */
type Unanswered =
  | 'offline'
  | 'connection_lost'
  | 'untrusted_certificate'
  | 'timeout'
  | 'aborted'
  | 'redirected'
  | 'bad_answer'

/** The facts that classify a failed request. */
export interface RequestAttempt {
  operation: Operation<unknown>
  /** Values that must not appear in an error: the key and the secrets of the request. */
  secrets: readonly string[]
}

/** An answer that is not a 2xx, or a 2xx with `success: false`. `body` is undefined if it was no JSON. */
export function refusal(
  attempt: RequestAttempt,
  status: number,
  body: unknown,
  retryAfter: number | undefined,
): ServiceError {
  const fields = isRecord(body) ? body : {}
  const named = fields['error']
  const code = isMissingExtra(attempt.operation, status, fields)
    ? 'not_supported'
    : codeOf(attempt.operation, status, fields)
  const words = [isServiceCode(named) ? undefined : named, fields['msg'] ?? fields['detail']]
  const detail = cleanDetail(words.filter(word => typeof word === 'string').join(': '), attempt.secrets)
  const seconds = retryAfter ?? (code === 'tfa_locked' ? 15 * 60 : undefined)
  const isServices = isServiceCode(named) || fields['success'] === false
  return new ServiceError({
    code,
    status,
    ...refusalSentence(code, isServiceCode(named) ? '' : detail, named),
    ambiguous: mayHaveTakenEffect(
      attempt.operation,
      status,
      isServiceCode(named),
      isServices || isCode(named),
    ),
    isServices,
    detail: detail === '' ? undefined : detail,
    retryAfter: seconds,
    ...numbered('failCount', fields['fail_count']),
    ...numbered('lockedUntil', fields['locked_until']),
  })
}

/** A 2xx whose body is no JSON or of the wrong shape. A write may have taken effect. */
export function badAnswer(attempt: RequestAttempt, status: number, problem: AnswerProblem): ServiceError {
  const path = cleanDetail(problem.path, attempt.secrets)
  const { message, advice } = errorSentence('bad_answer')
  return new ServiceError({
    code: 'bad_answer',
    status,
    message,
    advice,
    path,
    detail: `${path} ${problem.expected}`,
    ambiguous: attempt.operation.repeat !== 'read',
  })
}

/** A 2xx that was aborted since it exceeded `met`, such as `32 MB`. A write may have taken effect. */
export function tooLarge(attempt: RequestAttempt, met: string): ServiceError {
  const { message, advice } = errorSentence('too_large')
  const detail = `more than ${met} in answer to ${attempt.operation.method} ${attempt.operation.path}`
  const ambiguous = attempt.operation.repeat !== 'read'
  return new ServiceError({ code: 'too_large', status: 200, message, advice, detail, ambiguous })
}

/** A failure without a whole answer. `sent`: whether the request may have reached the service. */
export function noAnswer(attempt: RequestAttempt, code: Unanswered, sent: boolean, status = 0): ServiceError {
  const ambiguous = sent && attempt.operation.repeat !== 'read'
  return new ServiceError({ code, status, ...errorSentence(code), ambiguous })
}

/** Nothing was sent, since a proxy didn't let it through. */
export function throughNoProxy({ message }: ProxyFailed): ServiceError {
  const { advice } = errorSentence('proxy_failed')
  return new ServiceError({ code: 'proxy_failed', status: 0, message, advice, ambiguous: false })
}

/** Classifies a network error of Node’s. `sent`: whether the connection stood, so that it means no certificate. */
export function networkFailure(error: unknown, sent: boolean): Unanswered {
  const cause = deepestCause(error)
  const code = typeof cause['code'] === 'string' ? cause['code'] : ''
  const ofTls = /^(EPROTO|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/
  if (!sent && ofTls.test(code)) return 'untrusted_certificate'
  // The answer is no HTTP, or its compression is broken.
  if (/^(HPE_|Z_|ERR__ERROR_FORMAT)/.test(code)) return 'bad_answer'
  const isOffline =
    ['connect', 'getaddrinfo', 'queryA', 'queryAaaa'].includes(String(cause['syscall'])) ||
    ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code)
  return !sent && isOffline ? 'offline' : 'connection_lost'
}

/** Whether it has the form of the service's codes, which are not all listed. */
function isCode(named: unknown): boolean {
  return typeof named === 'string' && /^[a-z][a-z0-9_]*$/.test(named)
}

/**
 * After a 5xx without a code of section 7, the effect of a write is unknown; after a 2xx with `success: false` that of
 * one that must not be repeated and may answer so although it took effect, and after a 404 that isn't the service's that of a creation.
 */
function mayHaveTakenEffect(
  { repeat, tookEffect }: Operation<unknown>,
  status: number,
  explained: boolean,
  isAnswer: boolean,
): boolean {
  const creates = repeat === 'never' && tookEffect !== undefined
  if (status >= 200 && status < 300) return creates
  if (status === 404 && creates) return !isAnswer
  return repeat !== 'read' && status >= 500 && !explained
}

function codeOf(operation: Operation<unknown>, status: number, fields: Record<string, unknown>): ErrorCode {
  const named = fields['error']
  if (status === 401 && wantsLogin(fields)) return 'tfa_needed'
  if (isServiceCode(named)) return named
  if (named === 'deprecated_endpoint') return 'deprecated'
  // Every key has its collections, so a 404 means that the service has no such endpoint.
  const isListing = operation.repeat === 'read' && !operation.path.includes('{')
  return status === 404 && isListing ? 'not_supported' : codeOfStatus(status)
}

/** Deployments say so in their words alone, without a code or beside the one for a wrong key. */
function wantsLogin({ error, msg }: Record<string, unknown>): boolean {
  return (error === 'auth_error' || !isServiceCode(error)) && /two.factor authentication/i.test(String(msg))
}

function codeOfStatus(status: number): OwnCode | 'not_found' {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  if (status === 405 || status === 501) return 'not_supported'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'refused'
}

function isMissingExtra(
  operation: Operation<unknown>,
  status: number,
  fields: Record<string, unknown>,
): boolean {
  // A 404 for a refused key says nothing about the operation.
  if (operation.extra === undefined || fields['error'] === 'auth_error') return false
  if (status === 405 || status === 501) return true
  return status === 404 && (operation.extra === 'collection' || typeof fields['error'] !== 'string')
}

/** The innermost error: several tried addresses come as an AggregateError. */
function deepestCause(error: unknown): Record<string, unknown> {
  let current = error
  for (let depth = 0; depth < 5 && isRecord(current); depth++) {
    const inner: unknown = Array.isArray(current['errors']) ? current['errors'][0] : current['cause']
    if (!isRecord(inner)) break
    current = inner
  }
  return isRecord(current) ? current : {}
}

function numbered<K extends string>(name: K, value: unknown): { [N in K]?: number } {
  return typeof value === 'number' && Number.isFinite(value)
    ? ({ [name]: value } as { [N in K]: number })
    : {}
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The most characters of the service's own words in an error. */
const LONGEST = 300

/** Names of request fields whose values are secrets (sections 2.3, 2.5, 4.3, 4.7). */
const secretFields = /^(secret|tfa_secret|code|backup_code|api_key|key|docker_login_pass|password|token)$/i

/**
 * The service's own words, safe to show: without control and direction characters and without any of `secrets`, at
 * most 300 characters.
 */
export function cleanDetail(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter(secret => secret.length >= 4)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text.slice(0, 20 * LONGEST))
  const flat = hidden
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST - 1)}…` : flat
}

/** The secret values in a request's body: secret fields, and every value of `env`. */
export function secretsIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([field, value]) => {
    if (field === 'env') return textsIn(value)
    if (field === 'image_login' && typeof value === 'string') return [value, ...value.split(' ')]
    if (typeof value === 'string') return secretFields.test(field) ? [value] : []
    return secretsIn(value)
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
