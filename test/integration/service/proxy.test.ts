import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { wire } from '#service/http/http-request.ts'
import { proxies, proxyInEnvironment, proxyOf } from '#service/http/proxy.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'
import { makeCertificate } from '../ssh/certificate.ts'

const find = proxies.find
afterEach(() => {
  proxies.find = find
})

test.each([
  [{ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2' }, 'http://a:1'],
  [{ HTTPS_PROXY: 'b:2' }, 'http://b:2'],
  [{ ALL_PROXY: 'http://c:3' }, 'http://c:3'],
  [{ http_proxy: 'http://a:1' }, undefined],
  [{ https_proxy: 'http://a:1', no_proxy: 'gpu.example' }, undefined],
  [{ https_proxy: 'http://a:1', NO_PROXY: 'x, .example' }, undefined],
  [{ https_proxy: 'http://a:1', NO_PROXY: 'example:443' }, undefined],
  [{ https_proxy: 'http://a:1', NO_PROXY: '*' }, undefined],
  [{ https_proxy: 'http://a:1', NO_PROXY: 'example:8443 ample pu.example' }, 'http://a:1'],
])('the environment %j names the proxy %s', (env, proxy) => {
  expect(proxyInEnvironment('https://api.gpu.example/', env)).toBe(proxy)
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A proxy that leads every host to one port, or answers with a status. */
async function startProxy(to: number, status = 200) {
  const asked: { host: string | undefined; login: string | undefined }[] = []
  const server = createServer((_, response) => response.writeHead(500).end())
  server.on('connect', (request, socket) => {
    asked.push({ host: request.url, login: request.headers['proxy-authorization'] })
    socket.on('error', () => undefined)
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\n{}`)
      return
    }
    const target = connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
  })
  return { port: await listen(server), asked }
}

const request = (url: string) => ({
  url,
  method: 'GET',
  headers: { authorization: 'Bearer key' },
  body: undefined,
  signal: AbortSignal.timeout(60_000),
})

test('a request for a host that only the proxy knows goes through it, with its login', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = temporaryFolder()
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  makeCertificate(key, cert)
  const pair = { key: readFileSync(key), cert: readFileSync(cert) }
  const service = createTlsServer(pair, (_, response) => response.end('hello'))
  const { port, asked } = await startProxy(await listen(service))
  proxies.find = async () => `http://me:secret@127.0.0.1:${port}`
  const answer = await wire.send(request('https://service.invalid/api'))
  expect(answer.status).toBe(200)
  answer.body.resume()
  const login = `Basic ${Buffer.from('me:secret').toString('base64')}`
  expect(asked).toEqual([{ host: 'service.invalid:443', login }])
  expect(proxyOf('https://service.invalid')).toBe(`http://127.0.0.1:${port}`)
})

test.each([
  [407, /asks for a user name and a password/],
  [403, /refused the connection \(403\)/],
])('a proxy’s answer %i is no answer of the service', async (status, words) => {
  const { port } = await startProxy(0, status)
  proxies.find = async () => `http://me:secret@127.0.0.1:${port}`
  const failed = await wire.send(request('https://service.invalid/')).catch((error: Error) => error)
  expect(failed).toMatchObject({ message: 'not sent', cause: { message: expect.stringMatching(words) } })
  expect(String(failed instanceof Error && failed.cause)).not.toContain('secret')
})

test('a proxy that is not there, and one of another kind, are named', async () => {
  for (const [proxy, words] of [
    ['http://127.0.0.1:1', /^The proxy http:\/\/127\.0\.0\.1:1 can’t be reached\.$/],
    ['socks5://127.0.0.1:1', /socks5:\/\/127\.0\.0\.1:1 is of a kind/],
    ['::', /unreadable/],
  ] as const) {
    proxies.find = async () => proxy
    await expect(wire.send(request('https://service.invalid/'))).rejects.toMatchObject({
      cause: { message: expect.stringMatching(words) },
    })
    expect(proxyOf('https://service.invalid')).toBe(proxy === '::' ? 'of this computer' : proxy)
  }
})

test('this computer’s own addresses are asked directly', async () => {
  proxies.find = async () => 'http://127.0.0.1:1'
  const port = await listen(createServer((_, response) => response.end('hello')))
  for (const host of ['127.0.0.1', 'localhost']) {
    const answer = await wire.send(request(`http://${host}:${port}/`))
    expect(answer.status).toBe(200)
    answer.body.resume()
  }
})
