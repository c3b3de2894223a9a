import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import https from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type FullClient } from '#service/client.ts'
import { fetchResult } from '#service/result.ts'

const list = JSON.stringify({ instances: [], instances_found: 0 })

async function clientOf(server: Server | TcpServer, scheme = 'http'): Promise<FullClient> {
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return createClient({
    baseUrl: parseBaseUrl(`${scheme}://127.0.0.1:${port}`),
    key: 'k',
    retries: 0,
    dialect: { get: () => ({ list: 'v0' }), set: () => undefined },
  })
}

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('an answer in %s is read', async (encoding, compress) => {
  const client = await clientOf(
    createServer((_, response) => response.setHeader('content-encoding', encoding).end(compress(list))),
  )
  expect((await client.instances.list()).instances).toEqual([])
})

test('an answer with a wrong content encoding is bad_answer', async () => {
  const client = await clientOf(
    createServer((_, response) => response.setHeader('content-encoding', 'gzip').end(list)),
  )
  await expect(client.instances.list()).rejects.toMatchObject({ code: 'bad_answer' })
})

test('a refusal with an encoding but no body keeps its code', async () => {
  const client = await clientOf(
    createServer((_, response) => response.writeHead(401, { 'content-encoding': 'gzip' }).end()),
  )
  await expect(client.instances.list()).rejects.toMatchObject({ code: 'unauthorized' })
})

const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'

test('an answer that switches protocols is connection_lost', async () => {
  const server = createTcpServer(socket => socket.once('data', () => socket.write(switching)))
  const client = await clientOf(server)
  await expect(client.instances.list()).rejects.toMatchObject({ code: 'connection_lost' })
  const { port } = server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}`
  await expect(fetchResult(`${baseUrl}/result`, { baseUrl })).rejects.toMatchObject({
    code: 'connection_lost',
  })
})

test('consecutive requests share one connection', async () => {
  let connections = 0
  const server = createServer((_, response) => response.end(list))
  server.on('connection', () => {
    connections += 1
  })
  const client = await clientOf(server)
  for (let asked = 0; asked < 3; asked += 1) await client.instances.list()
  expect(connections).toBe(1)
})

function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'berth-certificate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const own = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
  ]
  execFileSync('openssl', ['req', ...own, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

test('an untrusted certificate ends the request before anything is sent', async () => {
  let asked = 0
  const server = https.createServer(selfSigned(), () => {
    asked += 1
  })
  const client = await clientOf(server, 'https')
  await expect(client.instances.destroy(7)).rejects.toMatchObject({
    code: 'untrusted_certificate',
    ambiguous: false,
  })
  expect(asked).toBe(0)
})

test('a secure connection that breaks after the request was sent is connection_lost and ambiguous', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const tcp: Socket[] = []
  let asked = 0
  const server = https.createServer(selfSigned(), () => {
    asked += 1
    // No TLS record, which the client's TLS refuses.
    tcp.at(-1)?.write('HTTP/1.1 200 OK\r\n\r\n')
  })
  server.on('connection', (socket: Socket) => tcp.push(socket))
  const client = await clientOf(server, 'https')
  await expect(client.offers.createInstance(5, { image: 'a' })).rejects.toMatchObject({
    code: 'connection_lost',
    ambiguous: true,
  })
  expect(asked).toBe(1)
})

test('a connection that is cut before it is secure is not ambiguous', async () => {
  const server = createTcpServer(socket => socket.destroy())
  const client = await clientOf(server, 'https')
  await expect(client.offers.createInstance(5, { image: 'a' })).rejects.toMatchObject({ ambiguous: false })
})

test('a connection that takes ten seconds fails as offline and is not ambiguous', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const server = createTcpServer(socket => socket.on('error', () => undefined))
  const client = await clientOf(server, 'https')
  const connected = new Promise(resolve => server.once('connection', resolve))
  const outcome = client.instances.destroy(7).then(
    () => undefined,
    (error: unknown) => error,
  )
  await connected
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await outcome).toMatchObject({ code: 'offline', ambiguous: false })
})
