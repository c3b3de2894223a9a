import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { decodeMessage, encodeMessage } from '#contract/messages.ts'
import { isNonce, type Nonces, proofText, writeGreeting } from '#contract/page-proof.ts'
import type { RunningBerth } from '#core/running.ts'
import { listenOnLoopback } from '#ssh/tunnels/local-port.ts'
import type { Clock, Opener } from '../platform/platform.ts'
import { loopbackServer, newPageToken, pagePorts, sameToken, withForeignCookies } from './one-use-address.ts'
import { PageDownloads } from './page-downloads.ts'
import { type BuiltFiles, openerPolicy, pageHeaders } from './page-files.ts'

/** The most bytes of a page's message: even a rental with all variables at their longest is smaller. */
const largestMessage = 8 * 1024 * 1024

/** Browser mode's server. Its files are public and hold no data; the socket requires the token. */
export interface PageServer {
  /** The page's address with its token, for the user alone. Its host name is random for each run. */
  address: string
  /** Downloads that the page's browser saves as files. */
  downloads: PageDownloads
  /** Resolves once a page has joined. */
  joined: Promise<void>
  /** Starts to join pages to Berth. */
  serve(berth: Pick<RunningBerth, 'connectPage'>): void
  /** Opens a second address on 127.0.0.1 and another port, for a browser that does not resolve the name. */
  openNumericAddress(): Promise<string>
  close(): Promise<void>
}

/** Listens on loopback; `port` 0 takes any free one. Rejects where the port is taken. */
export async function openPageServer(files: BuiltFiles, port: number): Promise<PageServer> {
  const token = newPageToken()
  const downloads = new PageDownloads()
  const greeter = new PageGreeter(token)
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: largestMessage,
    handleProtocols: () => 'berth',
  })
  const servers: Server[] = []
  let berth: Pick<RunningBerth, 'connectPage'> | undefined
  let sayJoined: () => void = () => undefined
  const joined = new Promise<void>(resolve => {
    sayJoined = resolve
  })

  /** Serves the page under a host name; gives its address. */
  async function listenAs(name: string, port: number, maxHeaderSize?: number): Promise<string> {
    const listening = await listenOnLoopback(pagePorts(port), chosen => {
      const host = `${name}:${chosen}`
      const headers = pageHeaders(`ws://${host}`)
      return loopbackServer(maxHeaderSize)
        .on('request', (request, response) => {
          const site = request.headers['sec-fetch-site']?.toString()
          answer(request, response, host, { ...headers, ...openerPolicy(site) })
        })
        .on('upgrade', (request, socket, head) => upgrade(request, socket, head, host))
    })
    servers.push(...listening.servers)
    return `http://${name}:${listening.port}/#${token}`
  }

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    host: string,
    headers: Record<string, string>,
  ) {
    // Stops other sites whose name resolves to loopback (DNS rebinding). The refusal does not reveal the name.
    if (request.headers.host !== host) return end(response, 403, pageHeaders())
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, headers)
    const path = pathname(request)
    if (downloads.isDownload(path)) {
      const status = downloads.answer(request, response, path, headers)
      return status === undefined ? undefined : end(response, status, headers)
    }
    const brotli = /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const file = files.find(path, brotli)
    if (file === undefined) return end(response, 404, headers)
    response.writeHead(200, {
      ...headers,
      'content-type': file.type,
      'content-length': file.bytes.length,
      'cache-control': file.cacheControl,
      vary: 'accept-encoding',
      ...(file.encoding && { 'content-encoding': file.encoding }),
    })
    response.end(request.method === 'HEAD' ? undefined : file.bytes)
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, host: string): void {
    socket.on('error', () => socket.destroy())
    const nonce = nonceOf(request, host)
    const running = berth
    if (nonce === undefined || running === undefined || greeter.isFull) {
      refuse(socket, nonce === undefined ? '403 Forbidden' : '503 Service Unavailable')
      return
    }
    sockets.handleUpgrade(request, socket, head, page => {
      page.on('error', () => page.terminate())
      greeter.greet(page, socket, nonce, () => {
        joinPage(running, page)
        sayJoined()
      })
    })
  }

  return {
    address: await listenAs(`berth-${randomBytes(10).toString('hex')}.localhost`, port),
    downloads,
    joined,
    serve(running) {
      berth = running
    },
    openNumericAddress: () => listenAs('127.0.0.1', 0, withForeignCookies),
    async close() {
      for (const page of sockets.clients) page.close(1001)
      const closed = servers.map(server => new Promise(resolve => server.close(resolve)))
      for (const server of servers) server.closeAllConnections()
      // Does not wait for a page that does not answer the close.
      const impatience = setTimeout(() => {
        for (const page of sockets.clients) page.terminate()
      }, 300)
      await Promise.all(closed)
      clearTimeout(impatience)
    },
  }
}

/** The nonce of a request from the page's own origin to its own host; undefined for all others. */
function nonceOf(request: IncomingMessage, host: string): string | undefined {
  const { host: givenHost, origin } = request.headers
  if (givenHost !== host || origin !== `http://${host}` || pathname(request) !== '/socket') return undefined
  const [name, nonce, ...more] = String(request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map(part => part.trim())
  return name === 'berth' && nonce !== undefined && isNonce(nonce) && more.length === 0 ? nonce : undefined
}

/** Does not wait for the client's end: the socket is destroyed once the answer was sent. */
function refuse(socket: Duplex, status: string): void {
  const answer = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`
  socket.end(answer, () => socket.destroy())
}

function end(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain', 'cache-control': 'no-store' })
  response.end(`${status}\n`)
}

function pathname(request: IncomingMessage): string {
  return (request.url ?? '/').split('?')[0] ?? '/'
}

/** The most sockets that wait for the page's proof at once. */
const mostWaiting = 32
/** The most bytes and milliseconds that a page may take for its proof. */
const mostHeard = 8 * 1024
const greetingWait = 5_000

/** A side's proof that it knows the token, in hex. */
export function proofOf(token: string, side: keyof Nonces, nonces: Nonces): string {
  return createHmac('sha256', token).update(proofText(side, nonces)).digest('hex')
}

/** Proves Berth to pages, and lets in pages that prove themselves. Others are few, and soon disconnected. */
class PageGreeter {
  readonly #token: string
  readonly #waiting = new Set<WebSocket>()

  constructor(token: string) {
    this.#token = token
  }

  /** Whether the most pages wait already. */
  get isFull(): boolean {
    return this.#waiting.size >= mostWaiting
  }

  /** Calls `letIn` once the page has proven itself. `socket` is the one below it, `nonce` the page's. */
  greet(page: WebSocket, socket: Duplex, nonce: string, letIn: () => void): void {
    const nonces = { page: nonce, berth: randomBytes(32).toString('hex') }
    let heard = 0
    const count = (bytes: Uint8Array) => {
      heard += bytes.length
      if (heard > mostHeard) page.terminate()
    }
    const impatience = setTimeout(() => page.terminate(), greetingWait)
    const forget = () => {
      clearTimeout(impatience)
      socket.off('data', count)
      this.#waiting.delete(page)
    }

    this.#waiting.add(page)
    socket.on('data', count)
    page.once('close', forget)
    page.once('message', data => {
      forget()
      if (sameToken(String(data), proofOf(this.#token, 'page', nonces))) letIn()
      else page.terminate()
    })
    page.send(writeGreeting(nonces.berth, proofOf(this.#token, 'berth', nonces)))
  }
}

/** Queued bytes at which the page's streams are paused. */
const fullAt = 1024 * 1024
/** Milliseconds between two checks of a full socket. */
const checkInterval = 10

/** Joins a page's socket to Berth: the contract's messages both ways, with streams paused while the socket is full. */
function joinPage(berth: Pick<RunningBerth, 'connectPage'>, socket: WebSocket): void {
  let watching: NodeJS.Timeout | undefined

  const link = berth.connectPage(message => {
    if (socket.readyState !== socket.OPEN) return true
    socket.send(encodeMessage(message))
    if (socket.bufferedAmount < fullAt) return true
    watching ??= setInterval(watch, checkInterval)
    return false
  })

  function watch(): void {
    if (socket.bufferedAmount >= fullAt / 2) return
    clearInterval(watching)
    watching = undefined
    link.drained()
  }

  socket.on('message', (data, isBinary) => {
    const message = decodeMessage(isBinary ? bytesOf(data) : String(data))
    if (message !== undefined) link.receive(message)
  })
  socket.on('close', () => {
    clearInterval(watching)
    link.close()
  })
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data
}

/** Milliseconds for the browser to open the page. */
const answerWait = 10_000

/**
 * Opens the page in the user's browser. Some browsers do not resolve names below `localhost`: where no page joins in
 * time, the server also listens on 127.0.0.1, and its address is shown. Rejects where there is no browser.
 */
export async function openPage(
  server: Pick<PageServer, 'address' | 'joined' | 'openNumericAddress'>,
  opener: Opener,
  clock: Clock,
  say: (line: string) => void,
): Promise<void> {
  await opener.openPrivately(server.address)
  const inTime = await new Promise<boolean>(resolve => {
    const forget = clock.after(answerWait, () => resolve(false))
    void server.joined.then(() => {
      forget()
      resolve(true)
    })
  })
  if (inTime) return
  const address = await server.openNumericAddress()
  say(
    'No browser has opened the page within ten seconds. ' +
      'Some cannot find names that end in .localhost; if yours is one of them, open this address instead.',
  )
  say(`Berth is ready at ${address}`)
}
