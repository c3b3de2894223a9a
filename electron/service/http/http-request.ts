import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
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
