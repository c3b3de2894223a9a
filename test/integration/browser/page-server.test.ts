import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { BuiltFiles } from '#browser/page-files.ts'
import { openPageServer, type PageServer, proofOf } from '#browser/page-server.ts'
import type { MainMessage } from '#contract/messages.ts'
import { startBerth } from '#core/berth.ts'
import type { RunningBerth } from '#core/running.ts'
import { noNotifier } from '#platform/dbus-notifier.ts'
import { openFiles } from '#platform/files.ts'
import { deferred } from '#platform/tasks.ts'
import { tunnelPorts } from '#ssh/tunnels/local-port.ts'
import { berthToCome } from '#start/shutdown.ts'
import { openPlatform } from '#start/system.ts'
import { silentLog } from '#test/berth/machine.ts'
import { beginSocket, joinBerth, someNonce } from '#test/page-client.ts'

let folder = ''
let berth: RunningBerth
let server: PageServer
let address: URL

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-page-'))
  const page = join(folder, 'page')
  await mkdir(join(page, 'assets'), { recursive: true })
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Berth</title>')
  await writeFile(join(page, 'assets', 'main-abc.js'), 'plain')
  await writeFile(join(page, 'assets', 'main-abc.js.br'), 'compressed')
  await writeFile(join(folder, 'secret.html'), 'secret')
  const platform = { ...(await openPlatform(openFiles(join(folder, 'home')))), notifier: noNotifier }
  berth = await startBerth({
    log: silentLog,
    platform,
    app: { version: '0', shell: 'browser' },
  })
  server = await openPageServer(new BuiltFiles(page), 0)
  server.serve(berth)
  address = new URL(server.address)
})
afterAll(async () => {
  await server.close()
  await berth.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20 })
})

const token = () => address.hash.slice(1)

interface Answer {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** Asks for a path, at the page's own host unless another is named. */
function get(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  { host, port } = address,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, agent: false }
    request({ ...options, headers: { host, ...headers } }, response => {
      let body = ''
      response.on('data', chunk => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }))
    })
      .on('error', reject)
      .end()
  })
}

/** The status with which a socket is refused; undefined when it opens. */
function refusal(socket: WebSocket): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(undefined))
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    socket.once('error', reject)
  })
}

function next(socket: WebSocket, kind: MainMessage['kind']): Promise<MainMessage> {
  return new Promise(resolve => {
    socket.on('message', function take(data) {
      const message: MainMessage = JSON.parse(String(data))
      if (message.kind !== kind) return
      socket.off('message', take)
      resolve(message)
    })
  })
}

test('each run has a new host name and a token of 256 random bits', async () => {
  expect(address.hostname).toMatch(/^berth-[0-9a-f]{20}\.localhost$/)
  expect(server.address).toBe(`${address.origin}/#${token()}`)
  expect(Buffer.from(token(), 'base64url')).toHaveLength(32)
  const other = await openPageServer(new BuiltFiles(folder), 0)
  expect(new URL(other.address).hostname).not.toBe(address.hostname)
  expect(new URL(other.address).hash).not.toBe(address.hash)
  await other.close()
})

test('the page’s policy allows only its own origin and its socket, and no device', async () => {
  const { status, headers, body } = await get('/')
  expect(status).toBe(200)
  expect(body).toContain('Berth')
  expect(body).not.toContain(token())
  expect(String(headers['content-security-policy']).split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    `connect-src 'self' ws://${address.host}`,
    ...["default-src 'self'", "font-src 'self'", "form-action 'none'", "frame-ancestors 'none'"],
    ...["img-src 'self'", "object-src 'none'", "script-src 'self'", "style-src 'self'"],
  ])
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()',
  })
})

test('a page opened by a foreign page is isolated from it', async () => {
  const policyFor = async (site?: string) =>
    (await get('/', site === undefined ? {} : { 'sec-fetch-site': site })).headers[
      'cross-origin-opener-policy'
    ]
  for (const site of [undefined, 'cross-site', 'same-site'])
    expect(await policyFor(site), site).toBe('same-origin')
  for (const site of ['none', 'same-origin']) expect(await policyFor(site), site).toBeUndefined()
})

test('hashed assets are cached as immutable, and compressed where the browser accepts that', async () => {
  const plain = await get('/assets/main-abc.js')
  expect(plain).toMatchObject({ status: 200, body: 'plain' })
  expect(plain.headers['cache-control']).toContain('immutable')
  const compressed = await get('/assets/main-abc.js', { 'accept-encoding': 'gzip, deflate, br, zstd' })
  expect(compressed).toMatchObject({ body: 'compressed', headers: { 'content-encoding': 'br' } })
})

test.each([
  '/../secret.html',
  '/..%2fsecret.html',
  '/assets/../../secret.html',
  '//etc/passwd',
  '/assets/main-abc.js.br',
  '/.hidden.html',
  '/nothing.html',
  '/assets/',
  '/%00',
])('%s is not found', async path => {
  expect((await get(path)).status).toBe(404)
})

test('other methods are refused', async () => {
  expect((await get('/', {}, 'POST')).status).toBe(405)
  expect((await get('/', {}, 'HEAD')).status).toBe(200)
})

test.each(['evil.example', 'localhost', 'x.localhost', '127.0.0.1', '127.0.0.1:1'])(
  'a request for the host %j is rejected and doesn’t reveal the right one',
  async foreign => {
    const own = address.port
    for (const host of [foreign, `${foreign}:${own}`, `${address.hostname}.:${own}`, `x.${address.host}`]) {
      for (const path of ['/', '/assets/main-abc.js']) {
        const answer = await get(path, { host })
        expect(answer.status).toBe(403)
        expect(JSON.stringify(answer)).not.toContain(address.hostname)
      }
    }
  },
)

test('the socket opens for the token and the page’s origin, and sends State on request', async () => {
  const socket = await joinBerth(address)
  expect(socket.protocol).toBe('berth')
  expect(socket.extensions).toBe('')
  const state = next(socket, 'state')
  socket.send(JSON.stringify({ kind: 'sync' }))
  expect(await state).toMatchObject({ state: { app: { shell: 'browser' }, accounts: {} } })
  await server.joined
  socket.close()
})

test('a command with bad arguments is refused, a valid one takes effect', async () => {
  const socket = await joinBerth(address)
  const refusal = next(socket, 'refusal')
  socket.send(JSON.stringify({ kind: 'command', call: 1, name: 'changeSettings', args: { settings: 7 } }))
  expect(await refusal).toMatchObject({ call: 1 })
  const answer = next(socket, 'answer')
  const args = { settings: { theme: 'dark' } }
  socket.send(JSON.stringify({ kind: 'command', call: 2, name: 'changeSettings', args }))
  expect(await answer).toMatchObject({ call: 2 })
  expect(berth.state().settings.theme).toBe('dark')
  socket.close()
})

test('the socket rejects a wrong token', async () => {
  type Proof = (berth: string, given: string) => string
  const nonces = (berth: string) => ({ page: someNonce, berth })
  const wrong: Record<string, Proof> = {
    'the token itself': () => token(),
    'another token': berth => proofOf(`${token()}x`, 'page', nonces(berth)),
    'Berth’s own proof, sent back': (_, given) => given,
    'the proof for another nonce': berth =>
      proofOf(token(), 'page', nonces(berth.split('').reverse().join(''))),
    'the other nonces, swapped': berth => proofOf(token(), 'page', { page: berth, berth: someNonce }),
    'a proof and more': berth => `${proofOf(token(), 'page', nonces(berth))} `,
    nothing: () => '',
  }
  for (const [what, proof] of Object.entries(wrong)) {
    const socket = beginSocket(address)
    const heard: string[] = []
    socket.on('message', data => {
      heard.push(String(data))
      const [berth = '', given = ''] = String(data).split(' ')
      if (heard.length === 1) socket.send(proof(berth, given))
      socket.send(JSON.stringify({ kind: 'sync' }))
    })
    await once(socket, 'close')
    expect(heard, what).toEqual([expect.stringMatching(/^[0-9a-f]{64} [0-9a-f]{64}$/)])
  }
})

const evil = 'evil.example'

test.each<[string, () => Parameters<typeof beginSocket>[1]]>([
  ...[[], ['berth'], [someNonce], [someNonce, 'berth'], ['berth', 'x'], ['berth', someNonce, 'x']].map(
    protocols => [`the subprotocols ${protocols}`, () => ({ protocols })] as [string, () => object],
  ),
  ['a foreign origin', () => ({ origin: `http://${evil}` })],
  ['its port on localhost for origin', () => ({ origin: `http://localhost:${address.port}` })],
  ['its port on 127.0.0.1 for origin', () => ({ origin: `http://127.0.0.1:${address.port}` })],
  ['its origin by TLS', () => ({ origin: `https://${address.host}` })],
  ['null for origin', () => ({ origin: 'null' })],
  ['a file for origin', () => ({ origin: 'file://' })],
  ['no origin', () => ({ origin: undefined })],
  ['a foreign host', () => ({ host: evil })],
  ['a foreign host and its origin', () => ({ host: evil, origin: `http://${evil}` })],
])('the socket rejects %s', async (_, asked) => {
  expect(await refusal(beginSocket(address, asked()))).toBe(403)
})

// The next two wait for the same seconds.
test.concurrent('unproven pages get 8 KB, a few seconds and few connections', async () => {
  const early = beginSocket(address)
  await once(early, 'message')
  const loud = beginSocket(address)
  loud.on('error', () => undefined)
  await once(loud, 'message')
  // One message that has not ended yet.
  loud.send('x'.repeat(10_000), { fin: false })
  await once(loud, 'close')
  expect(early.readyState).toBe(early.OPEN)
  early.terminate()

  const silent = Array.from({ length: 32 }, () => beginSocket(address))
  const closed = silent.map(socket => once(socket, 'close'))
  await Promise.all(silent.map(socket => once(socket, 'message')))
  expect(await refusal(beginSocket(address))).toBe(503)
  await Promise.all(closed)
  ;(await joinBerth(address)).close()
})

test.concurrent('idle connections are limited and dropped', async ({ onTestFinished }) => {
  const other = await openPageServer(new BuiltFiles(join(folder, 'page')), 0)
  onTestFinished(() => other.close())
  const own = new URL(other.address)
  const idle = Array.from({ length: 400 }, () => connect(Number(own.port), '127.0.0.1').resume())
  const closed = idle.map(socket => once(socket, 'close'))
  // A browser would take it for the answer to what it asks next.
  const said: string[] = []
  for (const socket of idle) socket.on('data', piece => said.push(String(piece)))
  // The 128 that are allowed keep all others out until they are dropped.
  let dropped = 0
  await new Promise<void>(resolve => {
    for (const socket of idle)
      socket.once('close', () => {
        dropped += 1
        if (dropped === idle.length - 128) resolve()
      })
  })
  await expect(get('/', {}, 'GET', own)).rejects.toThrow()
  await Promise.all(closed)
  expect(said).toEqual([])
  expect((await get('/', {}, 'GET', own)).status).toBe(200)
})

const handshake = () =>
  `GET /socket HTTP/1.1\r\nHost: ${address.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`

test('thousands of rejected upgrades leave no socket open', async () => {
  // Acts as an attacker: keeps its own end open, to see whether the server keeps the other.
  const heldNoMore = () =>
    new Promise<void>(resolve => {
      const socket = connect({ port: Number(address.port), host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => undefined)
      socket.once('close', () => resolve())
      socket.on('data', () => undefined)
      socket.on('end', () => {
        const trickle = setInterval(() => socket.write('x'), 10)
        socket.once('close', () => clearInterval(trickle))
      })
      socket.write(handshake())
    })
  for (let round = 0; round < 40; round++) await Promise.all(Array.from({ length: 100 }, heldNoMore))
  expect((await get('/')).status).toBe(200)
})

test('a port is taken on both loopback addresses or not at all', async () => {
  const blocker = createServer().listen(0, '::1')
  await once(blocker, 'listening')
  for (const port of [(blocker.address() as AddressInfo).port, Number(address.port)])
    await expect(openPageServer(new BuiltFiles(folder), port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  blocker.close()
  const rival = createServer().listen(Number(address.port), '::1')
  expect(await once(rival, 'error')).toMatchObject([{ code: 'EADDRINUSE' }])
})

test('the page’s port is never in the tunnels’ range', async () => {
  const servers = await Promise.all(
    Array.from({ length: 50 }, () => openPageServer(new BuiltFiles(folder), 0)),
  )
  const addresses = [...servers.map(one => one.address), await servers[0]?.openNumericAddress()]
  await Promise.all(servers.map(one => one.close()))
  for (const one of addresses) expect(Number(new URL(one ?? '').port), one).toBeGreaterThan(tunnelPorts.to)
})

test('127.0.0.1 serves the same page on its own port, despite foreign cookies', async () => {
  const numeric = new URL(await server.openNumericAddress())
  expect(numeric.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/)
  expect(numeric.port).not.toBe(address.port)
  // More than a browser keeps for one host.
  const cookie = Array.from({ length: 200 }, (_, n) => `c${n}=${'x'.repeat(4090)}`).join('; ')
  const answer = await fetch(new URL('/', numeric), { headers: { cookie } })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-security-policy')).toContain(`connect-src 'self' ws://${numeric.host};`)
  expect(await refusal(beginSocket(numeric, { cookie }))).toBeUndefined()
  ;(await joinBerth(numeric)).close()
  // Each address answers to its own host only.
  expect((await fetch(`http://127.0.0.1:${address.port}/`)).status).toBe(403)
  expect(await refusal(beginSocket(numeric, { host: address.host, origin: address.origin }))).toBe(403)
})

test('an oversized message closes its socket, and the server goes on', async () => {
  const socket = await joinBerth(address)
  const closed = once(socket, 'close')
  socket.on('error', () => undefined)
  socket.send('x'.repeat(9 * 1024 * 1024))
  await closed
  ;(await joinBerth(address)).close()
})

test('malformed messages are ignored, and the socket stays open', async () => {
  const socket = await joinBerth(address)
  for (const rubbish of ['', '{', 'null', '[]', '7', '{"kind":"none"}', '{"kind":"command"}'])
    socket.send(rubbish)
  for (const bytes of [Buffer.alloc(3), Buffer.from([0, 0, 0, 99, 1, 2, 3])]) socket.send(bytes)
  const state = next(socket, 'state')
  socket.send(JSON.stringify({ kind: 'sync' }))
  expect((await state).kind).toBe('state')
  socket.close()
})

test('a page that connects while Berth starts waits for it, or for its failure', async () => {
  const early = await openPageServer(new BuiltFiles(folder), 0)
  expect(await refusal(beginSocket(new URL(early.address)))).toBe(503)
  const starting = deferred<RunningBerth>()
  early.serve(berthToCome(starting.promise))
  const socket = await joinBerth(new URL(early.address))
  const state = next(socket, 'state')
  socket.send(JSON.stringify({ kind: 'sync' }))
  starting.resolve(berth)
  expect((await state).kind).toBe('state')
  await early.close()

  const failing = await openPageServer(new BuiltFiles(folder), 0)
  const failed = deferred<RunningBerth>()
  failing.serve(berthToCome(failed.promise))
  const closed = once(await joinBerth(new URL(failing.address)), 'close')
  failed.reject(new Error('the disk is full'))
  await failing.close()
  expect(await closed).toMatchObject([1001, expect.anything()])
})

test('a connection reset during the handshake does no harm', async () => {
  const socket = connect(Number(address.port), '127.0.0.1')
  socket.write(handshake())
  socket.resetAndDestroy()
  expect((await get('/')).status).toBe(200)
})
