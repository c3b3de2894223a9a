import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '#platform/platform.ts'
import { sleep } from '#platform/tasks.ts'
import type { Problem } from '#shared/problem.ts'
import { keepLease } from '../connection/reconnect.ts'
import type { SharedConnection } from '../connection/sharing.ts'
import { whyEnded } from '../connection/ssh-problems.ts'
import { join, openChannel, overTls, PortRefused } from './channel.ts'
import { addressAtLoopback, type TunnelEntry } from './entry.ts'
import { type Listening, listenForTunnel, type PortChoice } from './local-port.ts'
import { whatAnswers } from './web.ts'
import type { WebServer } from './web-headers.ts'
import { createWebProxy } from './web-proxy.ts'

/** The address of a tunnel on this computer. */
export interface LocalAddress {
  /** The tunnel's own host name for a web server, else `127.0.0.1`. */
  host: string
  port: number
}

/** A forwarded port of an instance, for programs on this computer. */
export type Tunnel = Awaited<ReturnType<typeof openTunnel>>

/**
 * The kind of traffic a tunnel accepts: a `web` server under the tunnel's host name alone; anything `other` as a plain
 * forward, which leads HTTP under that name alone to a web server, if one is there by then; `either` where it isn't
 * known yet.
 */
export type Listened = 'web' | 'other' | 'either'

export interface TunnelNeeds extends PortChoice {
  clock: Clock
  /** Connects to the instance; called again when the connection is lost. */
  connect: () => Promise<SharedConnection>
  /** The port inside the instance. */
  port: number
  /**
   * Draws the host name of a web server, different for each tunnel, so that they share no cookies, and what lets a
   * browser in at 127.0.0.1 (see `Entry`). Both are new for each listener: a tab that is still open shows the last ones
   * to anyone who has the port in between.
   */
  drawEntry: () => Omit<TunnelEntry, 'port'>
  /** Called when the connection is lost; requests wait until it is back. */
  lost: (problem: Problem) => void
  back: () => void
  /** Called for each request of a browser that was let in. */
  reached: () => void
  /** Called after an hour without a connection, so that the tunnel can be closed. */
  idle: () => void
}

/** Milliseconds without a connection after which a tunnel counts as unused. */
const idleAfter = 3_600_000
/** Attempts to open a channel, if the connection is lost during one. */
const tries = 3
/** Connections at a time, so that nobody on this machine can take all of Berth's memory. */
const mostConnections = 512
const loopback = '127.0.0.1'

/** Throws as `connect` does. */
export async function openTunnel(needs: TunnelNeeds) {
  const { clock, connect, port, drawEntry, lost, back, reached, idle } = needs
  const lease = await keepLease({ clock, connect, lost, back })
  const sockets = new Set<Socket>()
  let webServer: WebServer | undefined
  let lookingUp: Promise<WebServer> | undefined
  let listening: (Listening & { what: Listened; entry: TunnelEntry }) | undefined
  let cancelIdle = clock.after(idleAfter, idle)

  async function dial(tls = false): Promise<Duplex> {
    for (let attempt = 1; ; attempt++) {
      const { connection } = await lease.get()
      try {
        const channel = await openChannel(connection, port)
        return tls ? await overTls(channel) : channel
      } catch (error) {
        if (error instanceof PortRefused || attempt === tries) throw error
        // The connection is ending; the next lease is of another one.
        await Promise.race([connection.lost, sleep(clock, 1000)])
      }
    }
  }

  async function unbroken<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const { connection } = await lease.get()
      const answer = await ask()
      const why = await whyEnded(connection)
      if (!why) return answer
      if (attempt === tries) throw why
    }
  }

  /** The web server at the port, which is looked for as long as a browser may wait. */
  async function foundServer(): Promise<WebServer> {
    if (webServer) return webServer
    lookingUp ??= lookUp().finally(() => {
      lookingUp = undefined
    })
    return lookingUp
  }

  async function lookUp(): Promise<WebServer> {
    const patience = idleAfter
    const answering = await unbroken(() => whatAnswers(dial, port, clock, { path: '/', patience }))
    if (answering === 'nothing') throw new PortRefused('nothing is listening there')
    if (typeof answering === 'string') throw new Error('no web server answers there')
    webServer = answering.server
    return webServer
  }

  const entry = (): TunnelEntry => listening?.entry ?? { ...drawEntry(), port: 0 }

  function createListener(what: Listened): Server {
    const web = createWebProxy({
      dial: async () => dial((await foundServer()).tls),
      port,
      webServer: foundServer,
      entry,
      reached,
    })
    const server = what === 'web' ? web : createForward(dial, web, () => webServer !== undefined)
    server.maxConnections = mostConnections
    server.on('connection', (socket: Socket) => {
      cancelIdle()
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        if (sockets.size === 0 && listening) cancelIdle = clock.after(idleAfter, idle)
      })
    })
    return server
  }

  async function stop(): Promise<void> {
    const servers = listening?.servers ?? []
    listening = undefined
    const closed = servers.map(server => new Promise<void>(resolve => server.close(() => resolve())))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  }

  return {
    /** Opens a connection to the instance's port. Throws PortRefused. */
    dial,
    /** Asks again where the connection was lost meanwhile, since the silence then means nothing. Throws `ssh_closed`. */
    unbroken,
    /** Asks the web server as it wants it, with any certificate; the local port stays without TLS. */
    askAs(server: WebServer): void {
      webServer = server
    },
    /**
     * Listens on a loopback port. May be called again with another kind. Throws `no_free_port`.
     */
    async listen(what: Listened): Promise<LocalAddress> {
      if (listening?.what !== what) {
        await stop()
        const { random } = needs
        // Programs are set to the port of a plain forward. At that of a page, another may have left a service worker.
        const preferred = what === 'other' ? needs.preferred : undefined
        const made = await listenForTunnel({ random, preferred }, () => createListener(what))
        listening = { what, ...made, entry: { ...drawEntry(), port: made.port } }
      }
      return { host: what === 'other' ? loopback : listening.entry.name, port: listening.port }
    },
    /** The same page at 127.0.0.1, for a browser that does not resolve the name. The address lets in anyone who has it. */
    atLoopback: (url: string): string => addressAtLoopback(url, entry()),
    async close(): Promise<void> {
      cancelIdle()
      lease.close()
      await stop()
    },
  }
}

/** The start of an HTTP request. */
const httpRequest = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT) [/*\w]/

/** The start of an HTTP response: Chromium skips up to 4 bytes before it and needs no version, Firefox up to 11. */
const httpAnswer = /http|icy /i
/** Bytes in which browsers look for the start of a response. */
const answerBegins = 32

/**
 * Forwards bytes unchanged. A web page reached this way would share cookies with everything at 127.0.0.1, whatever the
 * port. So HTTP is left to the web proxy, and no answer of HTTP passes, even one sent before any request. Once a web
 * server was found, all is left to the proxy.
 */
function createForward(dial: () => Promise<Duplex>, web: Server, isWeb: () => boolean): Server {
  return createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, near => {
    if (isWeb()) {
      web.emit('connection', near)
      near.resume()
      return
    }
    dial().then(
      far => {
        near.once('data', (first: Buffer) => {
          if (!httpRequest.test(first.toString('latin1', 0, 16))) return
          part()
          far.on('error', () => undefined)
          far.destroy()
          near.unshift(first)
          web.emit('connection', near)
          near.resume()
        })
        let begun = ''
        far.on('data', function inspect(bytes: Buffer) {
          begun += bytes.toString('latin1', 0, answerBegins)
          if (httpAnswer.test(begun.slice(0, answerBegins))) near.destroy()
          else if (begun.length >= answerBegins) far.off('data', inspect)
        })
        const part = join(near, far)
        near.resume()
      },
      () => near.destroy(),
    )
  })
}
