import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createSsh, type Ssh } from '../../../electron/ssh/connection/connections.ts'
import { openTunnel, type Tunnel, type TunnelNeeds } from '../../../electron/ssh/tunnels/tunnel.ts'
import { whatAnswers } from '../../../electron/ssh/tunnels/web.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { freePort, hasSshd, type Sshd, startSshd } from './sshd.ts'
import { target } from './steps.ts'

describe.skipIf(!hasSshd)('a tunnel', () => {
  let sshd: Sshd
  let machine: ScratchMachine
  let ssh: Ssh
  const endings: (() => unknown)[] = []

  beforeAll(async () => {
    sshd = await startSshd()
  })
  afterAll(() => sshd?.close())
  beforeEach(async () => {
    machine = scratchMachine()
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keys.locate('berth')).publicKey)
  })
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end()
    await ssh.close()
    machine.remove()
  })

  interface Watched extends Tunnel {
    events: string[]
  }

  async function tunnelTo(port: number, more: Partial<TunnelNeeds> = {}): Promise<Watched> {
    const events: string[] = []
    const tunnel = await openTunnel({
      clock: machine.clock,
      connect: () => ssh.connect(target({ proxy: sshd })),
      port,
      reserved: new Set(),
      random: Math.random,
      lost: () => events.push('lost'),
      back: () => events.push('back'),
      idle: () => events.push('idle'),
      ...more,
    })
    endings.push(() => tunnel.close())
    return { ...tunnel, events }
  }

  async function webServer(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<{ server: Server; port: number }> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endings.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return { server, port: (server.address() as AddressInfo).port }
  }

  test('is open to this machine alone', async () => {
    const { port } = await webServer((_, response) => response.end('in'))
    const { localPort } = await tunnelTo(port)
    expect(await (await fetch(`http://127.0.0.1:${localPort}`)).text()).toBe('in')
    // Another address of this machine, which one that listens on all of them would answer at.
    const elsewhere = connect(localPort, '127.0.0.2')
    elsewhere.once('connect', () => elsewhere.destroy(new Error('somebody answers there')))
    const [error] = await once(elsewhere, 'error')
    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('carries web pages and web sockets', async () => {
    const { server, port } = await webServer((request, response) => response.end(`you asked ${request.url}`))
    new WebSocketServer({ server }).on('connection', socket =>
      socket.on('message', text => socket.send(`heard ${text}`)),
    )
    const { localPort } = await tunnelTo(port)
    expect(await (await fetch(`http://127.0.0.1:${localPort}/page`)).text()).toBe('you asked /page')
    const socket = new WebSocket(`ws://127.0.0.1:${localPort}/`)
    await once(socket, 'open')
    socket.send('hello')
    const [answer] = await once(socket, 'message')
    expect(String(answer)).toBe('heard hello')
    socket.close()
  })

  test('goes on by itself on the same port after the network was cut, and what comes meanwhile waits', async () => {
    const { port } = await webServer((_, response) => response.end('here'))
    const tunnel = await tunnelTo(port)
    const page = `http://127.0.0.1:${tunnel.localPort}/`
    expect(await (await fetch(page)).text()).toBe('here')
    await sshd.stop()
    await expect.poll(() => tunnel.events).toContain('lost')
    const waiting = fetch(page)
    await sshd.start()
    expect(await (await waiting).text()).toBe('here')
    await expect.poll(() => tunnel.events).toContain('back')
    expect(sshd.dropConnections()).toBeGreaterThan(0)
    expect(await (await fetch(page)).text()).toBe('here')
  })

  test('takes no more than the reader does, and loses nothing', async () => {
    const size = 64 * 1024 * 1024
    const chunk = Buffer.alloc(65_536, 7)
    let written = 0
    const far = createTcpServer(socket => {
      const pump = () => {
        while (written < size) {
          written += chunk.length
          if (!socket.write(chunk)) return void socket.once('drain', pump)
        }
        socket.end()
      }
      pump()
    }).listen(0, '127.0.0.1')
    await once(far, 'listening')
    endings.push(() => far.close())
    const { localPort } = await tunnelTo((far.address() as AddressInfo).port)
    const near = connect(localPort, '127.0.0.1')
    near.pause()
    await once(near, 'connect')
    // Until nothing flows any more: all buffers on the way are full, and the rest was never sent.
    let before = -1
    while (written !== before || written === 0) {
      before = written
      await new Promise(resolve => setTimeout(resolve, 300))
    }
    expect(written).toBeLessThan(size / 2)
    const hash = createHash('sha256')
    let read = 0
    for await (const part of near as AsyncIterable<Buffer>) {
      read += part.length
      hash.update(part)
    }
    expect(read).toBe(size)
    expect(hash.digest('hex')).toBe(createHash('sha256').update(Buffer.alloc(size, 7)).digest('hex'))
  })

  test('a client that says no more still hears the answer to the end', async () => {
    const far = createTcpServer({ allowHalfOpen: true }, socket => {
      let heard = ''
      socket.on('data', text => {
        heard += text
      })
      socket.on('end', () => socket.end(`heard ${heard}`))
    }).listen(0, '127.0.0.1')
    await once(far, 'listening')
    endings.push(() => far.close())
    const { localPort } = await tunnelTo((far.address() as AddressInfo).port)
    const near = connect({ port: localPort, host: '127.0.0.1', allowHalfOpen: true })
    near.end('all')
    let answer = ''
    for await (const part of near) answer += part
    expect(answer).toBe('heard all')
  })

  test('hangs up where nothing listens, and stays for when something does', async () => {
    const port = await freePort()
    const tunnel = await tunnelTo(port)
    await expect(fetch(`http://127.0.0.1:${tunnel.localPort}/`)).rejects.toThrow()
    expect(await whatAnswers(tunnel.dial, machine.clock)).toBe('nothing')
    const late = createServer((_, response) => response.end('late')).listen(port, '127.0.0.1')
    await once(late, 'listening')
    endings.push(() => {
      late.closeAllConnections()
      late.close()
    })
    expect(await whatAnswers(tunnel.dial, machine.clock)).toBe('http')
    expect(await (await fetch(`http://127.0.0.1:${tunnel.localPort}/`)).text()).toBe('late')
  })

  test('never takes a reserved port, nor one that is in use, and takes the one it had where it can', async () => {
    const { port } = await webServer((_, response) => response.end())
    const first = await tunnelTo(port, { random: () => 0 })
    const reserved = new Set([first.localPort + 1])
    let drawn = 0
    const ports = [first.localPort, first.localPort + 1, first.localPort + 2]
    const random = () => ((ports[drawn++ % 3] ?? 0) - 20_000) / 10_000 + 0.00001
    const second = await tunnelTo(port, { random, reserved })
    expect(second.localPort).toBe(first.localPort + 2)
    await second.close()
    const third = await tunnelTo(port, { preferred: second.localPort })
    expect(third.localPort).toBe(second.localPort)
    const fourth = await tunnelTo(port, { preferred: second.localPort })
    expect(fourth.localPort).not.toBe(second.localPort)
    expect(fourth.localPort).toBeLessThan(30_000)
  })

  test('ends every connection when it is closed, and the SSH connection with the last tunnel', async () => {
    const { port } = await webServer((_, response) => void response.write('for ever'))
    const tunnel = await tunnelTo(port)
    const near = connect(tunnel.localPort, '127.0.0.1', () => near.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'))
    near.on('error', () => undefined)
    await once(near, 'data')
    expect(sshd.connections()).toBe(1)
    await tunnel.close()
    await once(near, 'close')
    await expect.poll(() => sshd.connections()).toBe(0)
    await expect(fetch(`http://127.0.0.1:${tunnel.localPort}/`)).rejects.toThrow()
  })
})
