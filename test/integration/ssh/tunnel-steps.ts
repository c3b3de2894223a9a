import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type ServerOpts, type Socket } from 'node:net'
import {
  type Listened,
  type LocalAddress,
  openTunnel,
  type Tunnel,
  type TunnelNeeds,
} from '#ssh/tunnels/tunnel.ts'
import type { WebServer } from '#ssh/tunnels/web-headers.ts'
import { listen } from '#test/loopback.ts'
import type { ScratchMachine } from './machine.ts'
import type { Sshd } from './sshd.ts'
import { target } from './steps.ts'
import { useSshd } from './use-sshd.ts'

export interface OpenTunnel extends Tunnel {
  local: LocalAddress
  /** The URL of its page. */
  url: string
  events: string[]
}

export interface Tunnelled {
  sshd(): Sshd
  machine(): ScratchMachine
  /** Called after the test, the last first. */
  endings: (() => unknown)[]
  /** `server`: how a web server there is asked; by plain HTTP as `localhost` if none is given. */
  tunnelTo(
    port: number,
    more?: Partial<TunnelNeeds> & { server?: WebServer },
    what?: Listened,
  ): Promise<OpenTunnel>
  webServer(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<{ server: Server; port: number }>
  /** The port of a server that answers each connection so, whatever becomes of it. */
  tcpServer(answer: (socket: Socket) => unknown, options?: ServerOpts): Promise<number>
}

/** A real OpenSSH server for the tests of a file, with tunnels that end with each test. */
export function useTunnels(): Tunnelled {
  const at = useSshd()
  const { endings } = at
  return {
    sshd: () => at.sshd,
    machine: () => at.machine,
    endings,
    async tunnelTo(port, { server, ...more } = {}, what = 'web') {
      const events: string[] = []
      const tunnel = await openTunnel({
        clock: at.machine.clock,
        connect: () => at.ssh.connect(target({ proxy: at.sshd })),
        port,
        drawEntry: () => ({ name: 'i4711-0123456789abcdef.localhost', secret: 'f'.repeat(64) }),
        random: Math.random,
        lost: () => events.push('lost'),
        back: () => events.push('back'),
        reached: () => events.push('reached'),
        idle: () => events.push('idle'),
        ...more,
      })
      endings.push(() => tunnel.close())
      if (what === 'web') tunnel.askAs(server ?? { tls: false, host: `localhost:${port}` })
      const local = await tunnel.listen(what)
      return { ...tunnel, local, url: `http://${local.host}:${local.port}`, events }
    },
    async webServer(answer) {
      const server = createServer({ maxHeaderSize: 1024 * 1024 }, answer)
      endings.push(() => {
        server.closeAllConnections()
        server.close()
      })
      return { server, port: await listen(server) }
    },
    async tcpServer(answer, options = {}) {
      const server = createTcpServer(options, socket => void answer(socket.on('error', () => undefined)))
      endings.push(() => server.close())
      return listen(server)
    },
  }
}
