import type { Clock } from '#platform/platform.ts'
import { type AnswerBound, boundedText } from './bounded-answer.ts'
import { type WireAnswer, type WireRequest, wire } from './http-request.ts'

/** The service's time in an answer, from which the account's clock is estimated. */
export interface AnswerTime {
  /** The answer's `Date`, epoch seconds. */
  serverTime: number
  /** Milliseconds from sending to the headers of the answer. */
  roundTrip: number
}

/** An answer; `text` is {@link boundedText}. */
export interface Exchanged {
  status: number
  headers: WireAnswer['headers']
  text: string
  serverTime: number | undefined
}

export interface Outgoing extends Omit<WireRequest, 'url'> {
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
 * Sends a request and reads its whole answer. A redirect is followed only within the origin, so that the key goes
 * nowhere else, and for a write only to the same path, with or without a slash at its end: another one may mean another
 * machine. @throws RedirectRefused, AnswerTooLarge, NotSent, or the errors of
 * Node’s `http`
 */
export async function exchange(
  address: string,
  outgoing: Outgoing,
  clock: Clock,
  onAnswer: ((time: AnswerTime) => void) | undefined,
): Promise<Exchanged> {
  let url = address
  for (let hop = 0; ; hop++) {
    const sentAt = clock.monotonic()
    const { bound, ...request } = outgoing
    const answer = await wire.send({ url, ...request })
    const { status, headers } = answer
    const serverTime = timeOf(headers.date)
    if (serverTime !== undefined) onAnswer?.({ serverTime, roundTrip: clock.monotonic() - sentAt })
    if (!isRedirect(status)) return { status, headers, text: await boundedText(answer, bound), serverTime }
    answer.body.destroy()
    const next = followed(url, answer, outgoing.method)
    if (next === undefined || hop >= MOST_HOPS) throw new RedirectRefused(status)
    url = next
  }
}

function followed(from: string, { status, headers }: WireAnswer, method: string): string | undefined {
  const { location } = headers
  if (location === undefined || !URL.canParse(location, from)) return undefined
  const [before, to] = [new URL(from), new URL(location, from)]
  const staysHere = to.origin === before.origin && to.username === '' && to.password === ''
  const isSame = withoutSlash(to) === withoutSlash(before) && (status === 307 || status === 308)
  return staysHere && (method === 'GET' || isSame) ? to.href : undefined
}

const withoutSlash = ({ pathname, search }: URL) => pathname.replace(/\/$/, '') + search

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

function timeOf(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? '') / 1000
  return Number.isNaN(time) ? undefined : time
}
