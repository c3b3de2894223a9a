import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Lease } from '../connection/sharing.ts'
import { join, openChannel, overTls, PortRefused } from './channel.ts'
import { listenLocally, type PortChoice } from './local-port.ts'
import { keepLease } from './steady-lease.ts'

/** A loopback port that leads to a port inside an instance. */
export interface Tunnel {
  readonly localPort: number
  /** A connection to the far port, as those get that come to the local one. Throws PortRefused. */
  dial(): Promise<Duplex>
  /** From now on the far port is spoken to in TLS, so that the near one is plain: for certificates nobody signed. */
  speakTls(): void
  close(): Promise<void>
}

export interface TunnelNeeds extends PortChoice {
  clock: Clock
  /** Gets into the instance; called again when the connection is lost. */
  connect: () => Promise<Lease>
  /** The port inside the instance. */
  port: number
  /** The connection was lost and is being made again; what comes meanwhile waits. */
  lost: (problem: Problem) => void
  back: () => void
  /** Nothing came for an hour: whoever holds the tunnel closes it. */
  idle: () => void
}

/** Milliseconds without a connection after which a tunnel is not used any more. */
const idleAfter = 3_600_000
/** How often a connection is tried on which the way was lost. */
const tries = 3

/** Throws what getting in throws, and `no_free_port`. */
export async function openTunnel(needs: TunnelNeeds): Promise<Tunnel> {
  const { clock, connect, port, lost, back, idle } = needs
  const lease = await keepLease({ clock, connect, lost, back })
  const sockets = new Set<Socket>()
  let tls = false
  let cancelIdle = clock.after(idleAfter, idle)

  async function dial(): Promise<Duplex> {
    for (let attempt = 1; ; attempt++) {
      const { connection } = await lease.get()
      try {
        const channel = await openChannel(connection.client, port)
        return tls ? await overTls(channel) : channel
      } catch (error) {
        if (error instanceof PortRefused || attempt === tries) throw error
        // The connection is on its way out: the next share is of another one.
        await Promise.race([connection.lost, new Promise<void>(resolve => clock.after(1000, resolve))])
      }
    }
  }

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, socket => {
    cancelIdle()
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size > 0 || !server.listening) return
      cancelIdle = clock.after(idleAfter, idle)
    })
    dial().then(
      channel => {
        join(socket, channel)
        socket.resume()
      },
      () => socket.destroy(),
    )
  })

  async function close(): Promise<void> {
    cancelIdle()
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    lease.close()
    await closed
  }

  try {
    const localPort = await listenLocally(server, needs)
    return {
      localPort,
      dial,
      speakTls() {
        tls = true
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
