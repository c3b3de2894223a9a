import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { Duplex, pipeline } from 'node:stream'
import { join, PortRefused } from './channel.ts'
import { authMethod, authorize, cookiePrefix, type TunnelEntry } from './entry.ts'
import { requestHeaders, responseHeaders, type Sides, type WebServer } from './web-headers.ts'

/** The most bytes of headers in each direction: a browser sends up to 180 cookies of 4 KB for a page. */
const maxHeaderSize = 1024 * 1024

export interface WebProxyNeeds {
  /** Opens a connection to the port inside the instance, as the server wants it. */
  dial: () => Promise<Duplex>
  /** The port inside the instance. */
  port: number
  /** The server there, found out if it isn't known yet. Throws if none answers. */
  webServer: () => Promise<WebServer>
  /** Who may enter. Any other request is refused. */
  entry: () => TunnelEntry
  /** Called for each request that entered. */
  reached: () => void
}

/**
 * Creates a proxy that passes each request to the server inside the instance as if it came from there, and returns the
 * answer. Bodies and web sockets are streamed. The proxy does not listen yet.
 */
export function createWebProxy({ dial, port, webServer, entry, reached }: WebProxyNeeds): Server {
  const agents = new WeakMap<Socket, Agent>()

  /** One channel per connection of the browser, so that the browser notices when either is cut. */
  function agentFor(near: Socket): Agent {
    const known = agents.get(near)
    if (known) return known
    const agent = new ChannelAgent(dial, near)
    agents.set(near, agent)
    near.once('close', () => agent.destroy())
    return agent
  }

  /** Passes a request on if it may enter, else answers it. */
  async function forward(request: IncomingMessage, response: ServerResponse) {
    const way = authMethod(request, entry())
    if (way === undefined) {
      refuse(response, 403, 'Nothing is at this address. Open the page from Berth.')
      return undefined
    }
    if (way === 'secret') {
      authorize(request, response, entry())
      return undefined
    }
    reached()
    const server = await webServer().catch((error: unknown) => whyNot(error))
    if (!response.socket || response.socket.destroyed) return undefined
    if (typeof server === 'string') {
      refuse(response, 502, server)
      return undefined
    }
    const prefix = way === 'cookie' ? cookiePrefix(entry()) : undefined
    const sides: Sides = { near: `http://${request.headers.host}`, server, port, cookiePrefix: prefix }
    const outgoing = httpRequest({
      agent: agentFor(request.socket),
      method: request.method,
      path: request.url,
      headers: requestHeaders(request, sides),
      maxHeaderSize,
    })
    outgoing.on('response', answer => {
      try {
        response.sendDate = false
        response.writeHead(answer.statusCode ?? 502, responseHeaders(answer.rawHeaders, sides))
        response.flushHeaders()
      } catch {
        // The answer has an invalid status or header.
        outgoing.destroy()
        return
      }
      pipeline(answer, response, () => undefined)
    })
    let reason = whyNot(undefined)
    outgoing.on('error', error => {
      reason = whyNot(error)
    })
    outgoing.on('close', () => {
      // The response has begun, or the browser has disconnected.
      if (response.headersSent || !response.socket) return
      // A reused connection just ended. The browser repeats the request if it is cut off without a response.
      if (outgoing.reusedSocket) request.socket.destroy()
      else refuse(response, 502, reason)
    })
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy()
    })
    return { outgoing, sides }
  }

  const server = createServer(
    { maxHeaderSize, requestTimeout: 0, noDelay: true },
    async (request, response) => {
      const forwarded = await forward(request, response)
      if (forwarded) request.pipe(forwarded.outgoing)
    },
  )

  server.on('upgrade', async (request, near, head) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(request.socket)
    response.on('finish', () => request.socket.destroySoon())
    const forwarded = await forward(request, response)
    if (!forwarded) return
    const { outgoing, sides } = forwarded
    outgoing.on('upgrade', (answer, far, farHead) => {
      response.detachSocket(request.socket)
      near.write(switching(answer, sides), 'latin1')
      near.write(farHead)
      far.write(head)
      join(near, far)
    })
    outgoing.end()
  })
  return server
}

/** An agent that sends the requests of one connection over one channel. A channel has no `ref`, unlike a socket. */
class ChannelAgent extends Agent {
  readonly #dial: () => Promise<Duplex>
  readonly #near: Socket

  constructor(dial: () => Promise<Duplex>, near: Socket) {
    super({ keepAlive: true, maxSockets: 1 })
    this.#dial = dial
    this.#near = near
  }

  override createConnection(_options: unknown, done?: (error: Error | null, channel: Duplex) => void) {
    this.#dial().then(
      channel => {
        channel.on('error', () => channel.destroy())
        channel.on('end', () => channel.end())
        done?.(null, Object.assign(channel, { ref: () => channel }))
      },
      (error: Error) => done?.(error, new Duplex().destroy()),
    )
    return undefined
  }

  override keepSocketAlive(): boolean {
    return !this.#near.destroyed
  }
}

/** The head of the answer to an upgrade, in Latin-1 as Node reads it. */
function switching({ rawHeaders }: IncomingMessage, sides: Sides): string {
  const headers = responseHeaders(rawHeaders, sides)
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade']
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function whyNot(error: unknown): string {
  return error instanceof PortRefused
    ? 'Nothing is listening on this port of the instance.'
    : 'The server on the instance is not a web server.'
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${text}\n`)
}
