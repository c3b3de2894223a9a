import type { Clock } from '#platform/platform.ts'
import { sleep } from '#platform/tasks.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { cover } from '#shared/text.ts'
import type { BaseUrl } from '../base-url.ts'
import { ServiceError } from '../service-error.ts'
import { AnswerTooLarge, answerBounds } from './bounded-answer.ts'
import { isServiceCode } from './error-messages.ts'
import {
  badAnswer,
  networkFailure,
  noAnswer,
  type RequestAttempt,
  refusal,
  secretsIn,
  throughNoProxy,
  tooLarge,
} from './failure.ts'
import { type AnswerTime, type Exchanged, exchange, NotSent, RedirectRefused } from './http-request.ts'
import { parseJson } from './json.ts'
import type { CallOptions, Input, Operation, Send } from './operation.ts'
import { type Pacer, thresholdIn } from './pacing.ts'
import { ProxyFailed } from './proxy.ts'

export interface TransportOptions {
  baseUrl: BaseUrl
  key: string
  clock: Clock
  pacer: Pacer
  /** A number from 0 up to 1, for jitter. */
  random: () => number
  /** Milliseconds for one attempt, unless the call has its own. */
  timeout: number
  /** Repeats of repeatable operations, unless the call has its own. */
  retries: number
  onAnswer: ((time: AnswerTime) => void) | undefined
  onTooFast: ((seconds: number) => void) | undefined
  /** Resolves with why nothing that changes something may be sent now; undefined where it may. */
  hindrance: (() => Promise<Problem | undefined>) | undefined
}

/** Milliseconds before the first repeat, doubled for each further one up to the longest, in addition to Retry-After. */
const FIRST_WAIT = 300
const LONGEST_WAIT = 10_000
/** The longest wait in seconds before a repeat. If the service asks for more, the call fails at once. */
const LONGEST_RETRY_AFTER = 30

/** Sends all requests to a service. Also rejects with the BerthError of a hindrance. */
export function createTransport(options: TransportOptions): Send {
  return async (operation, input, callOptions = {}) => {
    const hindrance = operation.repeat === 'read' ? undefined : await options.hindrance?.()
    if (hindrance) throw new BerthError(hindrance)
    return new Call(options, operation, input, callOptions).run()
  }
}

/** One call of an operation, with its repeats. */
class Call<T> {
  readonly #transport: TransportOptions
  readonly #operation: Operation<T>
  readonly #input: Input
  readonly #options: CallOptions
  readonly #endpoint: string
  readonly #attempt: RequestAttempt
  /** Cancels it where it waits. */
  readonly #waiting: AbortSignal | undefined
  /** Whether any attempt of this call may have taken effect without a good answer. */
  #ambiguous = false

  constructor(transport: TransportOptions, operation: Operation<T>, input: Input, options: CallOptions) {
    this.#transport = transport
    this.#operation = operation
    this.#input = input
    this.#options = options
    this.#endpoint = `${operation.method} ${operation.path}`
    this.#attempt = { operation, secrets: [transport.key, ...secretsIn(input.body)] }
    const { signal, withdrawn } = options
    this.#waiting = signal && withdrawn ? AbortSignal.any([signal, withdrawn]) : (signal ?? withdrawn)
  }

  /** Sends it, with repeats while they may help. @throws ServiceError */
  async run(): Promise<T> {
    const { retries = this.#transport.retries } = this.#options
    const most = this.#operation.repeat === 'never' ? 0 : retries
    try {
      this.#waiting?.throwIfAborted()
      for (let repeat = 1; ; repeat++) {
        const answered = await this.#waitForTurn()
        const result = await this.#once().finally(answered)
        if (!(result instanceof ServiceError)) return result.read
        if (repeat > most || !isPassing(result)) throw result
        await this.#waitToRepeat(result.retryAfter ?? 0, repeat)
      }
    } catch (error) {
      throw this.#failure(error, false)
    }
  }

  /** Gives the function that ends this attempt's turn in the pacing. */
  async #waitForTurn(): Promise<() => void> {
    return this.#transport.pacer.turn(this.#endpoint, this.#waiting, this.#transport.onTooFast)
  }

  async #waitToRepeat(seconds: number, repeat: number): Promise<void> {
    const { clock, random } = this.#transport
    const backoff = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (repeat - 1))
    await sleep(clock, seconds * 1000 + backoff * (0.5 + random() / 2), this.#waiting)
  }

  /** One attempt. */
  async #once(): Promise<{ read: T } | ServiceError> {
    const { bearer, body: content } = this.#input
    const { signal, timeout = this.#transport.timeout } = this.#options
    const late = AbortSignal.timeout(timeout)
    const body = content === undefined ? undefined : JSON.stringify(content)
    const headers: Record<string, string> = { accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (bearer !== false) headers['authorization'] = `Bearer ${this.#transport.key}`
    const outgoing = {
      method: this.#operation.method,
      headers,
      body,
      signal: signal ? AbortSignal.any([signal, late]) : late,
      bound: answerBounds[this.#operation.size ?? 'single'],
    }
    try {
      const answer = await exchange(this.#url(), outgoing, this.#transport.clock, this.#transport.onAnswer)
      return { read: this.#judge({ ...answer, text: withoutKey(answer.text, this.#transport.key) }) }
    } catch (error) {
      const isLate = late.aborted && !signal?.aborted && !(error instanceof ServiceError)
      return this.#failure(isLate ? noAnswer(this.#attempt, 'timeout', true) : error, true)
    }
  }

  #judge({ status, headers, text, serverTime }: Exchanged): T {
    const body = parseJson(text) ?? wordsOf(headers, text)
    const failed = status < 200 || status > 299
    if ((failed || saysNo(body)) && !this.#operation.tookEffect?.(body)) {
      throw refusal(this.#attempt, status, body, this.#wait({ status, headers, text, serverTime }, body))
    }
    if (body === undefined) throw badAnswer(this.#attempt, status, { path: '$', expected: 'must be JSON' })
    const problem = this.#operation.answer.problem(body)
    if (problem) throw badAnswer(this.#attempt, status, problem)
    return this.#operation.answer.read(body, this.#options.onUnread)
  }

  /** Seconds to wait before a repeat, if the answer says so; the pacing also learns from a 429. */
  #wait({ status, headers, text, serverTime }: Exchanged, body: unknown): number | undefined {
    const asked = secondsIn(headers['retry-after'], serverTime) ?? secondsAskedIn(body)
    const seconds = asked === undefined ? undefined : Math.min(asked, longestWait)
    if (status !== 429 || isServiceCode(textOf(body, 'error'))) return seconds
    const learned = this.#transport.pacer.tooFast(this.#endpoint, thresholdIn(text), seconds)
    const wait = Math.max(seconds ?? 0, learned)
    this.#transport.onTooFast?.(wait)
    return wait
  }

  /** Any error as a ServiceError, `ambiguous` if any attempt of this call was. */
  #failure(error: unknown, sent: boolean): ServiceError {
    const failure = error instanceof ServiceError ? error : this.#withoutAnswer(error, sent)
    this.#ambiguous ||= failure.ambiguous
    if (!this.#ambiguous || failure.ambiguous) return failure
    return new ServiceError({ ...failure, message: failure.message, ambiguous: true })
  }

  #withoutAnswer(error: unknown, sent: boolean): ServiceError {
    const { signal } = this.#options
    if (error instanceof RedirectRefused) return noAnswer(this.#attempt, 'redirected', false, error.status)
    if (error instanceof AnswerTooLarge) return tooLarge(this.#attempt, error.met)
    if (signal?.aborted || !sent) return noAnswer(this.#attempt, 'aborted', sent)
    const isSent = !(error instanceof NotSent)
    if (!isSent && error.cause instanceof ProxyFailed) return throughNoProxy(error.cause)
    return noAnswer(this.#attempt, networkFailure(error, isSent), isSent)
  }

  #url(): string {
    const path = this.#operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(this.#input.ids?.[name])),
    )
    const query = this.#input.query ? `?${new URLSearchParams(this.#input.query)}` : ''
    return `${this.#transport.baseUrl}${path}${query}`
  }
}

/** Whether a repeat may succeed: after network errors, failures of the service, or too many requests. */
function isPassing(error: ServiceError): boolean {
  if ((error.retryAfter ?? 0) > LONGEST_RETRY_AFTER) return false
  return [
    'rate_limited',
    'offline',
    'proxy_failed',
    'connection_lost',
    'server_error',
    'service_unavailable',
    'challenge_creation_failed',
  ].includes(error.code)
}

/** The characters of the shortest key that is covered; a shorter one could be part of other words. */
const SHORTEST_KEY = 8

/** An answer may name the key, as in a label; from here on texts are cut, stored and sent to others. */
function withoutKey(text: string, key: string): string {
  return key.length >= SHORTEST_KEY && text.includes(key) ? text.replaceAll(key, cover) : text
}

/** The body of a plain-text answer. */
function wordsOf(headers: Exchanged['headers'], text: string): string | undefined {
  return headers['content-type']?.startsWith('text/plain') ? text : undefined
}

/** Whether a 2xx is a refusal, unless its operation gives `success` another meaning. */
function saysNo(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'success' in body && body.success === false
}

/** `retry_after` in the body, by which some deployments ask for a wait in seconds. */
function secondsAskedIn(body: unknown): number | undefined {
  if (typeof body !== 'object' || body === null || !('retry_after' in body)) return undefined
  const { retry_after: seconds } = body
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}

function textOf(body: unknown, field: string): string {
  if (typeof body !== 'object' || body === null) return ''
  const value: unknown = Reflect.get(body, field)
  return typeof value === 'string' ? value : ''
}

/** Seconds: no service is asked later than this, whatever it says. */
const longestWait = 86_400

/**
 * The seconds in a `Retry-After` header: a number, or a date, which is compared with the answer's own `Date`, since
 * this machine's clock may be wrong.
 */
function secondsIn(header: string | undefined, serverTime: number | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header)
  const date = Date.parse(header) / 1000
  if (Number.isNaN(date)) return undefined
  return Math.max(0, date - (serverTime ?? Date.now() / 1000))
}
