import { type AnswerBound, boundedText } from './bounded-answer.ts'
import type { RequestClock } from './clock.ts'

/** What time it was at the service when an answer came: what the account's clock is estimated from. */
export interface AnswerTime {
  /** The answer's `Date`, epoch seconds. */
  serverTime: number
  /** Milliseconds from sending to its head. */
  roundTrip: number
}

/** An answer; `text` is {@link boundedText}. */
export interface Exchanged {
  status: number
  headers: Headers
  text: string
  serverTime: number | undefined
}

export interface Outgoing {
  method: string
  headers: Record<string, string>
  body: string | undefined
  signal: AbortSignal
  /** How much of the answer is read. */
  bound: AnswerBound
}

/** A redirect that is not followed. */
export class RedirectRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super('redirect refused')
    this.status = status
  }
}

const MOST_HOPS = 3

/**
 * One request and its whole answer. A redirect is followed within the same origin only, and only where it keeps the
 * method; the key goes nowhere else.
 * @throws RedirectRefused, AnswerTooLarge, or what `fetch` throws
 */
export async function exchange(
  address: string,
  outgoing: Outgoing,
  clock: RequestClock,
  onAnswer: ((time: AnswerTime) => void) | undefined,
): Promise<Exchanged> {
  let url = address
  for (let hop = 0; ; hop++) {
    const sentAt = clock.now()
    const response = await fetch(url, {
      method: outgoing.method,
      headers: outgoing.headers,
      signal: outgoing.signal,
      redirect: 'manual',
      body: outgoing.body,
    })
    const serverTime = timeOf(response.headers)
    if (serverTime !== undefined) onAnswer?.({ serverTime, roundTrip: clock.now() - sentAt })
    if (!isRedirect(response.status)) {
      const text = await boundedText(response, outgoing.bound)
      return { status: response.status, headers: response.headers, text, serverTime }
    }
    await response.body?.cancel()
    const next = followed(url, response, outgoing.method)
    if (next === undefined || hop >= MOST_HOPS) throw new RedirectRefused(response.status)
    url = next
  }
}

function followed(from: string, response: Response, method: string): string | undefined {
  const location = response.headers.get('location')
  if (location === null || !URL.canParse(location, from)) return undefined
  const keepsMethod = method === 'GET' || response.status === 307 || response.status === 308
  const to = new URL(location, from)
  const staysHere = to.origin === new URL(from).origin && to.username === '' && to.password === ''
  return keepsMethod && staysHere ? to.href : undefined
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

function timeOf(headers: Headers): number | undefined {
  const time = Date.parse(headers.get('date') ?? '') / 1000
  return Number.isNaN(time) ? undefined : time
}
