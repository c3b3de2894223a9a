import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { whatAnswers } from '#ssh/tunnels/web.ts'
import { askByName } from '#test/ask-by-name.ts'
import { noSshd } from './own-root.ts'
import { freePort } from './sshd.ts'
import { useTunnels } from './tunnel-steps.ts'

describe.skipIf(noSshd)(`a tunnel${noSshd}`, () => {
  const { sshd, machine, endings, tcpServer, tunnelTo, webServer } = useTunnels()
  const textAt = async (url: string) => (await askByName(url)).text

  test('listens only on 127.0.0.1', async () => {
    const { port } = await webServer((_, response) => response.end('in'))
    const { local, url } = await tunnelTo(port)
    expect(await textAt(url)).toBe('in')
    // A listener on all addresses would answer at this one, too.
    const elsewhere = connect(local.port, '127.0.0.2')
    elsewhere.once('connect', () => elsewhere.destroy(new Error('somebody answers there')))
    const [error] = await once(elsewhere, 'error')
    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('carries web pages and WebSockets', async () => {
    const { server, port } = await webServer((request, response) => response.end(`you asked ${request.url}`))
    new WebSocketServer({ server }).on('connection', socket =>
      socket.on('message', text => socket.send(`heard ${text}`)),
    )
    const { local, url } = await tunnelTo(port)
    expect(await textAt(`${url}/page`)).toBe('you asked /page')
    const headers = { host: `${local.host}:${local.port}` }
    const socket = new WebSocket(`ws://127.0.0.1:${local.port}/`, { headers })
    await once(socket, 'open')
    socket.send('hello')
    const [answer] = await once(socket, 'message')
    expect(String(answer)).toBe('heard hello')
    socket.close()
  })

  test('reconnects on the same port after a cut, while requests wait', async () => {
    const { port } = await webServer((_, response) => response.end('here'))
    const tunnel = await tunnelTo(port)
    expect(await textAt(tunnel.url)).toBe('here')
    await sshd().stop()
    await expect.poll(() => tunnel.events).toContain('lost')
    const waiting = textAt(tunnel.url)
    await sshd().start()
    expect(await waiting).toBe('here')
    await expect.poll(() => tunnel.events).toContain('back')
    expect(sshd().dropConnections()).toBeGreaterThan(0)
    expect(await textAt(tunnel.url)).toBe('here')
  })

  test('applies backpressure to the sender and loses nothing', async () => {
    const size = 64 * 1024 * 1024
    const chunk = Buffer.alloc(65_536, 7)
    let written = 0
    const port = await tcpServer(socket => {
      const pump = () => {
        while (written < size) {
          written += chunk.length
          if (!socket.write(chunk)) return void socket.once('drain', pump)
        }
        socket.end()
      }
      pump()
    })
    const { local } = await tunnelTo(port, {}, 'other')
    const near = connect(local.port, '127.0.0.1')
    near.pause()
    await once(near, 'connect')
    // Waits until all buffers on the way are full and the sender stops.
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

  test('delivers the whole answer to a client that has ended its side', async () => {
    const answer = (socket: Socket) => {
      let heard = ''
      socket.on('data', bytes => {
        heard += bytes
      })
      socket.on('end', () => socket.end(`heard ${heard}`))
    }
    const { local } = await tunnelTo(await tcpServer(answer, { allowHalfOpen: true }), {}, 'other')
    const near = connect({ port: local.port, host: '127.0.0.1', allowHalfOpen: true })
    near.end('all')
    expect(await text(near)).toBe('heard all')
  })

  test('rejects HTTP on a plain forward', async () => {
    let asked = ''
    const port = await tcpServer(socket =>
      socket.on('data', text => {
        asked += text
        socket.write(`heard ${text}`)
      }),
    )
    const { local, url } = await tunnelTo(port, {}, 'other')
    expect(local.host).toBe('127.0.0.1')
    expect((await askByName(url)).status).toBe(403)
    expect(asked).toBe('')
    const near = connect(local.port, '127.0.0.1', () => near.write('*1\r\n$4\r\nPING\r\n'))
    expect(String((await once(near, 'data'))[0])).toBe('heard *1\r\n$4\r\nPING\r\n')
    near.destroy()
  })

  test.each([
    ['in one piece', ['HTTP/1.1 200 OK\r\nset-cookie: a=1\r\n\r\n']],
    ['in small pieces', ['HT', 'TP/1.1 2', '00 OK\r\nset-cookie: a=1\r\n\r\n']],
    [
      'without a version, after bytes that a browser skips',
      ['\r\n\r\nhttp 200 OK\r\nset-cookie: a=1\r\n\r\n'],
    ],
    ['as radio stations give it', ['ICY 200 OK\r\nset-cookie: a=1\r\n\r\n']],
  ])('blocks an unrequested HTTP answer, %s', async (_, pieces) => {
    const port = await tcpServer(async socket => {
      socket.setNoDelay(true)
      for (const piece of pieces) {
        socket.write(piece)
        // Sends the next piece once this one has arrived, so that they arrive separately.
        if (piece !== pieces.at(-1)) await heard(piece.length)
      }
      socket.end()
    })
    const { local } = await tunnelTo(port, {}, 'other')
    let text = ''
    const near = connect(local.port, '127.0.0.1')
    async function heard(more: number) {
      const until = text.length + more
      while (text.length < until && !near.closed)
        await Promise.race([once(near, 'data'), once(near, 'close')])
    }
    near.on('data', bytes => {
      text += bytes
    })
    await once(near, 'close')
    expect(text).not.toContain('a=1')
  })

  test('carries the greeting of a server that speaks first on a plain forward', async () => {
    const port = await tcpServer(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    const { local } = await tunnelTo(port, {}, 'other')
    const near = connect(local.port, '127.0.0.1')
    expect(String((await once(near, 'data'))[0])).toBe('SSH-2.0-OpenSSH_9.2\r\n')
    near.destroy()
  })

  test('answers 502 while nothing listens, and works once something does', async () => {
    const port = await freePort()
    const tunnel = await tunnelTo(port)
    expect(await askByName(tunnel.url)).toMatchObject({
      status: 502,
      text: expect.stringMatching(/^Nothing is listening/),
    })
    expect(await whatAnswers(tunnel.dial, port, machine().clock)).toBe('nothing')
    const late = createServer((_, response) => response.end('late')).listen(port, '127.0.0.1')
    await once(late, 'listening')
    endings.push(() => {
      late.closeAllConnections()
      late.close()
    })
    expect(await whatAnswers(tunnel.dial, port, machine().clock)).toMatchObject({ server: { tls: false } })
    expect(await textAt(tunnel.url)).toBe('late')
  })

  test('detects the server again if the connection was lost before', async () => {
    let cuts = 0
    const { port } = await webServer((_, response) => {
      if (cuts++ === 0) sshd().dropConnections()
      else response.end('page')
    })
    const tunnel = await tunnelTo(port)
    expect(await tunnel.unbroken(() => whatAnswers(tunnel.dial, port, machine().clock))).toMatchObject({
      status: 200,
    })
    expect(cuts).toBeGreaterThan(1)
  })

  test('reuses its port, or takes one free on both loopback addresses', async () => {
    const { port } = await webServer((_, response) => response.end())
    const first = await tunnelTo(port, { random: () => 0 }, 'other')
    // A browser might resolve the tunnel's name to this address.
    const other = createServer().listen(first.local.port + 1, '::1')
    await once(other, 'listening')
    endings.push(() => void other.close())
    let drawn = 0
    const ports = [first.local.port, first.local.port + 1, first.local.port + 2]
    const random = () => ((ports[drawn++ % 3] ?? 0) - 20_000) / 10_000 + 0.00001
    const second = await tunnelTo(port, { random }, 'other')
    expect(second.local.port).toBe(first.local.port + 2)
    await second.close()
    const third = await tunnelTo(port, { preferred: second.local.port }, 'other')
    expect(third.local.port).toBe(second.local.port)
    const fourth = await tunnelTo(port, { preferred: second.local.port }, 'other')
    expect(fourth.local.port).not.toBe(second.local.port)
    expect(fourth.local.port).toBeLessThan(30_000)
  })

  test('ends its connections when it is closed, and the SSH connection with the last tunnel', async () => {
    const { port } = await webServer((_, response) => void response.write('for ever'))
    const tunnel = await tunnelTo(port)
    const near = connect(tunnel.local.port, '127.0.0.1', () =>
      near.write(`GET / HTTP/1.1\r\nhost: ${new URL(tunnel.url).host}\r\n\r\n`),
    )
    near.on('error', () => undefined)
    await once(near, 'data')
    expect(sshd().connections()).toBe(1)
    await tunnel.close()
    await once(near, 'close')
    await expect.poll(() => sshd().connections()).toBe(0)
    await expect(askByName(tunnel.url)).rejects.toThrow()
  })
})
