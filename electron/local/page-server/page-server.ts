import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { isNonce } from '#contract/bridge/proof.ts'
import type { RunningBerth } from '#core/running.ts'
import { listenOnLoopback } from '#ssh/tunnels/local-port.ts'
import { loopbackServer, pagePorts, withForeignCookies } from '../loopback-server.ts'
import { PageDownloads } from './page-downloads.ts'
import type { BuiltFiles } from './page-files.ts'
import { openerPolicy, pageHeaders } from './page-headers.ts'
import { PageGreeter } from './page-proof.ts'
import { joinPage } from './page-socket.ts'
import { newPageToken } from './page-token.ts'

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
