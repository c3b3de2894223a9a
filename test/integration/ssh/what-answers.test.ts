import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Clock } from '#platform/platform.ts'
import { whatAnswers } from '#ssh/tunnels/web.ts'
import { makeCertificate } from './certificate.ts'
import { noNginx, startNginx } from './nginx.ts'
import { freePort } from './sshd.ts'

let tls: { key: Buffer; cert: Buffer }
const folder = mkdtempSync(join(tmpdir(), 'berth-answers-'))
const endings: (() => unknown)[] = []

beforeAll(() => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  makeCertificate(key, cert)
  tls = { key: readFileSync(key), cert: readFileSync(cert) }
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', socket => sockets.add(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A port that speaks TLS, and answers plain HTTP in its own way. */
function onOnePort(plain: RequestListener | undefined, secured: RequestListener): Promise<number> {
  const [http, https] = [createServer(plain), createTlsServer(tls, secured)]
  return listening(
    createTcpServer(socket => {
      socket.once('data', (first: Buffer) => {
        socket.pause()
        socket.unshift(first)
        if (first[0] === 0x16) https.emit('connection', socket)
        else if (plain) http.emit('connection', socket)
        else socket.destroy()
        process.nextTick(() => socket.resume())
      })
    }),
  )
}

const answering = (port: number, clock: Clock = systemClock) =>
  whatAnswers(async () => connect(port, '127.0.0.1'), port, clock)

/** A clock on which time to wait has passed at once. */
const impatient: Clock = { ...systemClock, after: (_, done) => systemClock.after(50, done) }

const ok: RequestListener = (_, response) => response.end('ok')
const status =
  (code: number): RequestListener =>
  (_, response) =>
    response.writeHead(code).end('this port speaks TLS')
const toHttps =
  (code: number): RequestListener =>
  ({ headers, url }, response) =>
    response.writeHead(code, { location: `https://${headers.host}${url}` }).end()

describe('a port that speaks TLS', () => {
  test.each<[string, RequestListener | undefined]>([
    ['hangs up', undefined],
    ...[301, 302, 307, 308].map((code): [string, RequestListener] => [`leads with ${code}`, toHttps(code)]),
    ...[400, 403, 426].map((code): [string, RequestListener] => [`answers ${code}`, status(code)]),
  ])('uses TLS if it %s on plain HTTP', async (_, plain) => {
    const port = await onOnePort(plain, ok)
    expect(await answering(port)).toEqual({ server: { tls: true, host: `localhost:${port}` }, status: 200 })
  })

  test.skipIf(noNginx)(`of nginx uses TLS, whether its page is readable or not${noNginx}`, async () => {
    for (const [more, code] of [
      ['location / { return 200 "ok"; }', 200],
      ['root /nowhere;', 404],
      ['location / { return 403; }', 403],
    ] as const) {
      const port = await freePort()
      const end = await startNginx(port, `listen 127.0.0.1:${port} ssl; ${more}`)
      endings.push(end)
      expect(await answering(port)).toEqual({
        server: { tls: true, host: `localhost:${port}` },
        status: code,
      })
    }
  })
})

describe('a port that speaks plain HTTP', () => {
  test.each<[string, RequestListener, number]>([
    ['whose page may not be read', status(403), 403],
    ['whose page is bad to ask for', status(400), 400],
    ['whose page is not there', status(404), 404],
    ['that asks for a login', status(401), 401],
    ['that leads to another page', (_, response) => response.writeHead(302, { location: '/lab' }).end(), 302],
    ['that leads to https, which it does not speak', toHttps(301), 301],
  ])('is asked so %s', async (_, plain, code) => {
    const port = await listening(createServer(plain))
    expect(await answering(port)).toEqual({ server: { tls: false, host: `localhost:${port}` }, status: code })
  })

  test('and TLS with another page uses plain HTTP', async () => {
    const port = await onOnePort(ok, (_, response) => response.writeHead(201).end('other'))
    expect(await answering(port)).toMatchObject({ server: { tls: false }, status: 200 })
  })
})

describe('a server that accepts', () => {
  const only =
    (...accepted: ((port: number) => string)[]): RequestListener =>
    ({ headers, socket }, response) => {
      const known = accepted.some(host => host(socket.localPort ?? 0) === headers.host)
      response.writeHead(known ? 200 : 403).end()
    }
  test.each<[string, (port: number) => string]>([
    ['localhost and its port', port => `localhost:${port}`],
    ['127.0.0.1 and its port', port => `127.0.0.1:${port}`],
    ['localhost without a port', () => 'localhost'],
    ['127.0.0.1 without a port', () => '127.0.0.1'],
  ])('only %s gets that name', async (_, host) => {
    const port = await listening(createServer(only(host)))
    expect(await answering(port)).toEqual({ server: { tls: false, host: host(port) }, status: 200 })
    const secured = await onOnePort(status(400), only(host))
    expect(await answering(secured)).toEqual({ server: { tls: true, host: host(secured) }, status: 200 })
  })

  test('one name only and redirects others to it gets that name', async () => {
    const port = await listening(
      createServer(({ headers, url, socket }, response) => {
        const own = `127.0.0.1:${socket.localPort}`
        if (headers.host === own) response.end('ok')
        else response.writeHead(301, { location: `http://${own}${url}` }).end()
      }),
    )
    expect(await answering(port)).toEqual({ server: { tls: false, host: `127.0.0.1:${port}` }, status: 200 })
  })

  test.each([
    ['HTML', (host?: string) => `<a href="http://${host}/file=1">`],
    ['JSON', (host?: string) => `<script>config = {"root": "http:\\/\\/${host}"}</script>`],
  ])('any name, and writes it into its page as %s, gets the browser’s', async (_, page) => {
    const port = await listening(
      createServer(({ headers }, response) =>
        response.setHeader('content-type', 'text/html').end(page(headers.host)),
      ),
    )
    expect(await answering(port)).toEqual({ server: { tls: false, host: undefined }, status: 200 })
  })

  test('its own name only, and writes it into its page, gets that name', async () => {
    const port = await listening(
      createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end(`http://localhost:${port}/`),
      ),
    )
    expect(await answering(port)).toMatchObject({ server: { host: `localhost:${port}` } })
  })
})

describe('a port', () => {
  test('that accepts connections and sends nothing is silent, not without a web server', async () => {
    const port = await listening(createServer(() => undefined))
    expect(await answering(port, impatient)).toBe('silent')
    expect(await answering(await listening(createTcpServer(() => undefined)), impatient)).toBe('silent')
    const secured = await onOnePort(undefined, () => undefined)
    expect(await answering(secured, impatient)).toBe('silent')
  })

  test.each([
    ['greets', (socket: Socket) => socket.end('SSH-2.0-x\r\n')],
    ['echoes', (socket: Socket) => socket.pipe(socket)],
    ['hangs up', (socket: Socket) => socket.destroy()],
  ])('that %s has no web server', async (_, answer) => {
    expect(await answering(await listening(createTcpServer(answer)))).toBe('other')
  })
})
