import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { RunningBerth } from '../../core/running.ts'
import { PageDownloads } from './page-downloads.ts'
import type { PageFiles } from './page-files.ts'
import { pageHeaders } from './page-headers.ts'
import { joinPage } from './page-socket.ts'
import { newPageToken, sameToken } from './page-token.ts'

/** The largest message a page may send, in bytes: a rental with every variable at its longest is below it. */
const largestMessage = 8 * 1024 * 1024

/** Browser mode's server. Its files are the same for everyone and hold nothing; the socket opens only with the token. */
export interface PageServer {
  port: number
  /** The page's address with its token: for the user alone. */
  address: string
  /** What the page's browser takes as files. */
  downloads: PageDownloads
  /** From here on pages are joined to Berth; those that came before wait. */
  serve(berth: RunningBerth): void
  close(): Promise<void>
}

/** Listens on loopback. `ports` are tried in turn; 0 is any free one. Rejects when none is free. */
export async function openPageServer(files: PageFiles, ports: readonly number[]): Promise<PageServer> {
  const token = newPageToken()
  const downloads = new PageDownloads()
  const server = createServer()
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: largestMessage,
    handleProtocols: () => 'berth',
  })
  let serve: (berth: RunningBerth) => void = () => undefined
  const serving = new Promise<RunningBerth>(resolve => {
    serve = resolve
  })

  const port = await listenOn(server, ports)
  const host = `127.0.0.1:${port}`
  const headers = pageHeaders(`ws://${host}`)

  server.on('request', (request, response) => void answer(request, response))
  server.on('upgrade', upgrade)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refuse(request)
    if (refusal !== undefined) return end(response, refusal)
    const path = pathname(request)
    if (downloads.isDownload(path)) {
      const status = downloads.answer(request, response, path, headers)
      return status === undefined ? undefined : end(response, status)
    }
    const brotli = /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const file = await files.find(path, brotli)
    if (file === undefined) return end(response, 404)
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

  function refuse(request: IncomingMessage): number | undefined {
    // A foreign name that resolves to loopback would make another site's page ours.
    if (request.headers.host !== host) return 403
    if (request.method !== 'GET' && request.method !== 'HEAD') return 405
    return undefined
  }

  function end(response: ServerResponse, status: number): void {
    response.writeHead(status, { ...headers, 'content-type': 'text/plain', 'cache-control': 'no-store' })
    response.end(`${status}\n`)
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    if (!mayJoin(request)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      return
    }
    sockets.handleUpgrade(request, socket, head, page => {
      page.pause()
      void serving.then(berth => {
        joinPage(berth, page)
        page.resume()
      })
    })
  }

  function mayJoin(request: IncomingMessage): boolean {
    const { host: givenHost, origin } = request.headers
    if (givenHost !== host || origin !== `http://${host}` || pathname(request) !== '/socket') return false
    const [name, given, ...more] = String(request.headers['sec-websocket-protocol'] ?? '')
      .split(',')
      .map(part => part.trim())
    return name === 'berth' && given !== undefined && more.length === 0 && sameToken(given, token)
  }

  return {
    port,
    address: `http://${host}/#${token}`,
    downloads,
    serve,
    async close() {
      for (const page of sockets.clients) page.close(1001)
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      // A page that does not answer the goodbye is not waited for.
      const impatience = setTimeout(() => {
        for (const page of sockets.clients) page.terminate()
      }, 300)
      await closed
      clearTimeout(impatience)
    },
  }
}

async function listenOn(server: ReturnType<typeof createServer>, ports: readonly number[]): Promise<number> {
  let reason: unknown
  for (const port of ports) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    } catch (error) {
      reason = error
    }
  }
  throw reason
}

function pathname(request: IncomingMessage): string {
  return (request.url ?? '/').split('?')[0] ?? '/'
}
