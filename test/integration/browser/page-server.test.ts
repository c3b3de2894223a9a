import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { MainMessage } from '../../../electron/contract/bridge/messages.ts'
import { startBerth } from '../../../electron/core/berth.ts'
import type { RunningBerth } from '../../../electron/core/running.ts'
import { openFiles } from '../../../electron/local/files.ts'
import { openMachine } from '../../../electron/local/machine.ts'
import { noNotifier } from '../../../electron/local/notifier/no-notifier.ts'
import { PageFiles } from '../../../electron/local/page-server/page-files.ts'
import { openPageServer, type PageServer } from '../../../electron/local/page-server/page-server.ts'
import { silentLog } from '../../unit/core/silent-log.ts'

let folder = ''
let berth: RunningBerth
let server: PageServer
let token = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-page-'))
  const page = join(folder, 'page')
  await mkdir(join(page, 'assets'), { recursive: true })
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Berth</title>')
  await writeFile(join(page, 'assets', 'main-abc.js'), 'plain')
  await writeFile(join(page, 'assets', 'main-abc.js.br'), 'compressed')
  await writeFile(join(folder, 'secret.html'), 'secret')
  const machine = await openMachine(await openFiles(join(folder, 'home')), noNotifier)
  berth = await startBerth({
    log: silentLog,
    machine,
    app: { version: '0', shell: 'browser', terminals: [] },
  })
  server = await openPageServer(new PageFiles(page), [0])
  server.serve(berth)
  token = new URL(server.address).hash.slice(1)
})
afterAll(async () => {
  await server.close()
  await berth.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 20 })
})

const host = () => `127.0.0.1:${server.port}`
const origin = () => `http://${host()}`

interface Answer {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  body: string
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: server.port, path, method, headers }, response => {
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

/** Opens the socket as a page would; gives it, or the status it was refused with. */
function open(protocols: string[], headers: Record<string, string>): Promise<WebSocket | number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${host()}/socket`, protocols, { headers })
    socket.once('open', () => resolve(socket))
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    socket.once('error', reject)
  })
}

async function openRightly(): Promise<WebSocket> {
  const socket = await open(['berth', token], { origin: origin() })
  if (!(socket instanceof WebSocket)) throw new Error(`refused with ${socket}`)
  return socket
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

test('the address has 256 random bits, in the fragment alone', () => {
  expect(server.address).toBe(`${origin()}/#${token}`)
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
})

test('the page is served with headers that allow it itself and its socket alone', async () => {
  const { status, headers, body } = await get('/')
  expect(status).toBe(200)
  expect(body).toContain('Berth')
  expect(body).not.toContain(token)
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'self'")
  expect(policy).toContain(`connect-src 'self' ws://${host()};`)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
})

test('what never changes is kept by the browser, and comes compressed to one that can read it', async () => {
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

test.each(['evil.example', 'localhost', '127.0.0.1', '127.0.0.1:1'])(
  'a request for the host %j is refused, whatever it asks',
  async foreign => {
    const headers = { host: foreign }
    expect((await get('/', headers)).status).toBe(403)
    expect((await get('/assets/main-abc.js', headers)).status).toBe(403)
  },
)

test('with the token and the page’s own origin the socket opens, and State comes when asked', async () => {
  const socket = await openRightly()
  expect(socket.protocol).toBe('berth')
  expect(socket.extensions).toBe('')
  const state = next(socket, 'state')
  socket.send(JSON.stringify({ kind: 'sync' }))
  expect(await state).toMatchObject({ state: { app: { shell: 'browser' }, accounts: {} } })
  socket.close()
})

test('a command is checked on its way in: a bad one is refused in words, a good one takes effect', async () => {
  const socket = await openRightly()
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

test('without the right token the socket stays shut', async () => {
  const headers = { origin: origin() }
  const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`
  for (const protocols of [
    [],
    ['berth'],
    ['berth', changed],
    ['berth', `${token}x`],
    [token],
    [token, 'berth'],
  ]) {
    expect(await open(protocols, headers), protocols.join()).toBe(403)
  }
  expect(await open(['berth', token, 'more'], headers)).toBe(403)
})

test('with a foreign origin, or none, the socket stays shut', async () => {
  const foreign = [
    'http://evil.example',
    `http://localhost:${server.port}`,
    `https://${host()}`,
    'null',
    'file://',
  ]
  for (const other of foreign) expect(await open(['berth', token], { origin: other }), other).toBe(403)
  expect(await open(['berth', token], {})).toBe(403)
})

test('for a foreign host the socket stays shut', async () => {
  expect(await open(['berth', token], { origin: origin(), host: 'evil.example' })).toBe(403)
  expect(await open(['berth', token], { origin: 'http://evil.example', host: 'evil.example' })).toBe(403)
})

test('a message larger than any the page sends closes the socket, and Berth goes on', async () => {
  const socket = await openRightly()
  const closed = new Promise<number>(resolve => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.send('x'.repeat(9 * 1024 * 1024))
  expect(await closed).toBe(1009)
  ;(await openRightly()).close()
})

test('rubbish in the socket changes nothing and ends nothing', async () => {
  const socket = await openRightly()
  for (const rubbish of [
    '',
    '{',
    'null',
    '[]',
    '7',
    '{"kind":"none"}',
    '{"kind":"command"}',
    Buffer.alloc(3),
  ]) {
    socket.send(rubbish)
  }
  socket.send(Buffer.from([0, 0, 0, 99, 1, 2, 3]))
  const state = next(socket, 'state')
  socket.send(JSON.stringify({ kind: 'sync' }))
  expect((await state).kind).toBe('state')
  socket.close()
})

test('a page that came before Berth was ready waits, and loses nothing it said', async () => {
  const early = await openPageServer(new PageFiles(folder), [0])
  try {
    const address = new URL(early.address)
    const socket = new WebSocket(`ws://${address.host}/socket`, ['berth', address.hash.slice(1)], {
      headers: { origin: address.origin },
    })
    await new Promise(resolve => socket.once('open', resolve))
    const state = next(socket, 'state')
    socket.send(JSON.stringify({ kind: 'sync' }))
    early.serve(berth)
    expect((await state).kind).toBe('state')
  } finally {
    await early.close()
  }
})

test('a connection that breaks off in the middle of the greeting harms nobody', async () => {
  const socket = connect(server.port, '127.0.0.1')
  socket.write(`GET /socket HTTP/1.1\r\nHost: ${host()}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`)
  socket.resetAndDestroy()
  expect((await get('/')).status).toBe(200)
})

test('a port that is taken is refused, unless another may be taken instead', async () => {
  const files = new PageFiles(folder)
  await expect(openPageServer(files, [server.port])).rejects.toMatchObject({ code: 'EADDRINUSE' })
  const other = await openPageServer(files, [server.port, 0])
  expect(other.port).not.toBe(server.port)
  await other.close()
})
