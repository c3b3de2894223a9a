import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** A request as it goes out. */
export interface WireRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string | undefined
  /** Ends the request, and the answer's body too. */
  signal: AbortSignal
}

/** The head of an answer, and its body as it comes in, decompressed. A body that is not read to its end is destroyed. */
export interface WireAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
}

/** Milliseconds after which a connection that is not established is given up, and an unused one closed. */
const CONNECT_TIMEOUT = 10_000
const IDLE_TIMEOUT = 4_000

const keptAlive = { keepAlive: true, timeout: IDLE_TIMEOUT }
const agents = { 'http:': new http.Agent(keptAlive), 'https:': new https.Agent(keptAlive) }

/** Node's own client: `fetch` took three times the processor time of a request, and 30 MB. Follows no redirect. */
function send({ url, method, headers, body, signal }: WireRequest): Promise<WireAnswer> {
  const secure = url.startsWith('https:')
  const { request: open } = secure ? https : http
  const own = { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'Berth' }
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const request = open(url, {
      agent: agents[secure ? 'https:' : 'http:'],
      method,
      headers: { ...own, ...length, ...headers },
      signal,
    })
    request.once('socket', socket => {
      if (!socket.connecting) return
      const late = setTimeout(() => request.destroy(new ConnectTimeout()), CONNECT_TIMEOUT)
      const over = () => clearTimeout(late)
      socket.once(secure ? 'secureConnect' : 'connect', over)
      request.once('close', over)
    })
    request.once('response', answer => {
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: decompressed(answer) })
    })
    request.on('error', reject)
    // Also where Node tells nothing of the end, as of an answer that would switch protocols.
    request.once('close', () => reject(new Error('closed without an answer')))
    request.end(body)
  })
}

/** How requests leave this process; whatever watches all of them stands in its place. */
export const wire = { send }

class ConnectTimeout extends Error {
  readonly syscall = 'connect'
}

function decompressed(answer: IncomingMessage): Readable {
  const decoder = decoderOf(answer)
  // Who reads the decoder hears of every failure from it.
  return decoder ? pipeline(answer, decoder, () => {}) : answer
}

/** One that ends early gives what there was, as an empty one may: the status tells more. */
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
