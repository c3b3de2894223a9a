import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Clock } from '#platform/platform.ts'
import { type AnswerBound, boundedText } from './bounded-answer.ts'
import { type Detour, detourTo, ProxyFailed } from './proxy.ts'

export interface WireRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string | undefined
  /** Aborts the request, and the answer's body. */
  signal: AbortSignal
  /** Resolves the host's name, for a connection of its own; a proxy resolves it itself. */
  lookup?: LookupFunction
}

/** An answer's head, and its body as a decompressed stream, to be read to its end or destroyed. */
export interface WireAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
}

/** Milliseconds until connecting fails, and until an unused connection is closed. */
const CONNECT_TIMEOUT = 10_000
const IDLE_TIMEOUT = 4_000

const keptAlive = { keepAlive: true, timeout: IDLE_TIMEOUT }
const agents = { 'http:': new http.Agent(keptAlive), 'https:': new https.Agent(keptAlive) }

/** A failure before the connection stood, or the secure one: nothing was sent. */
export class NotSent extends Error {
  constructor(cause: unknown) {
    super('not sent', { cause })
  }
}

/**
 * Follows no redirect. Uses Node's `http`, since `fetch` took three times the processor time, and 30 MB. @throws
 * NotSent, or the errors of Node's `http`
 */
async function send(request: WireRequest): Promise<WireAnswer> {
  const secure = request.url.startsWith('https:')
  const detour = await detourTo(request.url, keptAlive).catch((error: unknown) => {
    throw new NotSent(error)
  })
  return sendBy(request, secure, detour)
}

function sendBy(
  { url, method, headers, body, signal, lookup }: WireRequest,
  secure: boolean,
  detour: Detour | undefined,
): Promise<WireAnswer> {
  const { request: open } = secure ? https : http
  const own = { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'Berth' }
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const request = open(url, {
      // A kept connection may lead where this name may not.
      agent: detour?.agent ?? (lookup ? false : agents[secure ? 'https:' : 'http:']),
      ...(lookup && !detour && { lookup }),
      method,
      headers: { ...own, ...length, ...headers },
      signal,
    })
    let stands = false
    /** Whether it is the proxy that has not let the request through. */
    let atProxy = detour !== undefined
    const fail = (error: Error) => {
      if (stands) reject(error)
      else reject(new NotSent(atProxy && detour ? proxyFailure(detour, error) : error))
    }
    const late = setTimeout(() => request.destroy(new ConnectTimeout()), CONNECT_TIMEOUT)
    const connected = () => {
      stands = true
      clearTimeout(late)
    }
    request.once('close', () => clearTimeout(late))
    request.once('socket', socket => {
      // A socket of a proxy is connected before it's given, and its secure connection is made after that.
      if (request.reusedSocket || !(secure || socket.connecting)) connected()
      else socket.once(secure ? 'secureConnect' : 'connect', connected)
    })
    // A refusal would else be read as the service's answer.
    request.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
      if (statusCode === 200) atProxy = false
      else request.destroy(new ProxyRefused(statusCode))
    })
    request.once('response', answer => {
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: decompressed(answer) })
    })
    request.on('error', fail)
    // Node may report neither answer nor error, as for an answer that switches protocols.
    request.once('close', () => fail(new Error('closed without an answer')))
    request.end(body)
  })
}

/** Every request of the client goes through `send`, which tests replace to watch them. */
export const wire = { send }

class ConnectTimeout extends Error {
  readonly syscall = 'connect'
}

class ProxyRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super('refused by the proxy')
    this.status = status
  }
}

function proxyFailure({ proxy }: Detour, error: Error): Error {
  if (error.name === 'AbortError') return error
  if (error instanceof ProxyRefused)
    return new ProxyFailed(
      proxy,
      error.status === 407
        ? 'asks for a user name and a password, or rejected them (407)'
        : `refused the connection (${error.status})`,
    )
  return new ProxyFailed(proxy, error instanceof ConnectTimeout ? 'doesn’t answer' : 'can’t be reached')
}

function decompressed(answer: IncomingMessage): Readable {
  const decoder = decoderOf(answer)
  // Failures reach the reader through the decoder.
  return decoder ? pipeline(answer, decoder, () => {}) : answer
}

/** A truncated body gives its beginning, and an empty one is no error: the status is worth more. */
const lenient = { finishFlush: constants.Z_SYNC_FLUSH }

function decoderOf({ headers, statusCode }: IncomingMessage) {
  if (statusCode === 204 || statusCode === 304) return undefined
  switch (headers['content-encoding']?.toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(lenient)
    case 'deflate':
      return createInflate(lenient)
    case 'br':
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })
    default:
      return undefined
  }
}

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
