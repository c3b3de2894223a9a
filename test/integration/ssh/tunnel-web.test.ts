import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { askByName } from '#test/ask-by-name.ts'
import { noSshd } from './own-root.ts'
import { useTunnels } from './tunnel-steps.ts'

describe.skipIf(noSshd)(`a tunnel to a web server${noSshd}`, () => {
  const { endings, tcpServer, tunnelTo, webServer } = useTunnels()

  /** Cookies of a server, and those that the browser gets of it. */
  const farCookies = [
    'a=1; Domain=localhost; Path=/',
    'b=domain=x; HttpOnly',
    'c=2;domain=127.0.0.1',
    'd=3; Domain =localhost',
    'e=4;\tDOMAIN\t= localhost; Path=/',
    'f=5; Domain',
  ]
  const nearCookies = ['a=1; Path=/', 'b=domain=x; HttpOnly', 'c=2', 'd=3', 'e=4; Path=/', 'f=5']

  test('rejects a request for a foreign host name', async () => {
    let asked = 0
    const { server, port } = await webServer((_, response) => {
      asked += 1
      response.end('secret')
    })
    server.on('upgrade', () => {
      asked += 1
    })
    const { local, url } = await tunnelTo(port)
    const foreign = [
      `127.0.0.1:${local.port}`,
      `localhost:${local.port}`,
      `rebound.example:${local.port}`,
      local.host,
      `${local.host}:${local.port + 1}`,
      `x.${local.host}:${local.port}`,
      `${local.host}.:${local.port}`,
      '',
    ]
    for (const host of foreign) {
      const answer = await askByName(url, { headers: { host } })
      expect(answer).toMatchObject({ status: 403, text: expect.not.stringContaining('secret') })
      expect(JSON.stringify(answer)).not.toContain(local.host)
      const socket = new WebSocket(`ws://127.0.0.1:${local.port}/`, { headers: { host } })
      expect(await once(socket, 'error')).toMatchObject([{ message: expect.stringContaining('403') }])
    }
    expect(asked).toBe(0)
    expect((await askByName(url)).text).toBe('secret')
  })

  /** Headers that tell where a page is. */
  const places = ({ host, origin, referer, destination, forwarded, ...headers }: IncomingHttpHeaders) => ({
    host,
    origin,
    referer,
    destination,
    forwarded,
    more: Object.keys(headers).filter(name => name.startsWith('x-')),
  })

  test('tells the server its own address in every header, for every method and WebSockets', async () => {
    const seen: ReturnType<typeof places>[] = []
    const { server, port } = await webServer((request, response) => {
      seen.push(places(request.headers))
      response.end()
    })
    new WebSocketServer({
      server,
      verifyClient: (info: { req: IncomingMessage }) => seen.push(places(info.req.headers)) > 0,
    })
    const { local, url } = await tunnelTo(port)
    const host = new URL(url).host
    const headers = {
      origin: url,
      referer: `${url}/b?c`,
      destination: `${url}/d`,
      forwarded: `host=${host}`,
      'x-forwarded-host': host,
      'x-forwarded-proto': 'http',
      'x-forwarded-for': '10.0.0.1',
      'x-real-ip': '10.0.0.1',
    }
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'MOVE']
    for (const method of methods) await askByName(`${url}/a`, { method, headers })
    const socket = new WebSocket(`ws://127.0.0.1:${local.port}/`, { headers: { host, ...headers } })
    await once(socket, 'open')
    socket.close()
    const far = `localhost:${port}`
    const all = {
      host: far,
      origin: `http://${far}`,
      referer: `http://${far}/b?c`,
      destination: `http://${far}/d`,
      forwarded: undefined,
      more: [],
    }
    expect(seen).toEqual([...methods, 'upgrade'].map(() => all))

    await askByName(url, { headers: { origin: 'https://other.example', referer: `${url}1/` } })
    expect(seen.at(-1)).toMatchObject({ host: far, origin: 'https://other.example', referer: `${url}1/` })
  })

  test('tells a server that writes its address into its pages the browser’s, in every header', async () => {
    const seen: IncomingHttpHeaders[] = []
    const { port } = await webServer((request, response) => {
      seen.push(request.headers)
      response.end()
    })
    const { url } = await tunnelTo(port, { server: { tls: false, host: undefined } })
    const { host, port: nearPort } = new URL(url)
    await askByName(`${url}/a`, { method: 'POST', headers: { origin: url, referer: `${url}/b` } })
    expect(seen).toMatchObject([
      {
        host,
        origin: url,
        referer: `${url}/b`,
        'x-forwarded-host': host,
        'x-forwarded-port': nearPort,
        'x-forwarded-proto': 'http',
      },
    ])
  })

  test('lets a page be opened from another, and tells of requests from other sites', async () => {
    const seen: unknown[] = []
    const { port } = await webServer(({ headers }, response) => {
      seen.push(headers['sec-fetch-site'])
      response.end()
    })
    const { url } = await tunnelTo(port)
    const opening = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    await askByName(url, { headers: opening })
    await askByName(url, { method: 'POST', headers: opening })
    await askByName(url, { headers: { ...opening, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' } })
    expect(seen).toEqual(['none', 'cross-site', 'cross-site'])
  })

  test('rewrites the server’s own addresses to the tunnel in every header', async () => {
    let answer: Record<string, string> = {}
    const { port: P } = await webServer((_, response) => response.writeHead(200, answer).end())
    const { url } = await tunnelTo(P)
    const { host } = new URL(url)
    const moved: [name: string, sent: string, received: string][] = [
      ['location', `http://0.0.0.0:${P}/app`, `${url}/app`],
      ['location', `http://[::]:${P}/`, `${url}/`],
      ['location', `http://[::1]:${P}/`, `${url}/`],
      ['location', `http://[::ffff:127.0.0.1]:${P}/`, `${url}/`],
      ['location', `http://127.1.2.3:${P}/`, `${url}/`],
      ['location', `http://4fd1c0ffee12:${P}/x`, `${url}/x`],
      ['location', `//127.0.0.1:${P}/app`, `${url}/app`],
      ['location', `HTTP://LOCALHOST:${P}/App`, `${url}/App`],
      ['location', `https://localhost:${P}/app#a`, `${url}/app#a`],
      ['location', `http://127.0.0.1:${P}?a=1`, `${url}/?a=1`],
      ['location', `http://localhost:${P}/lab?a=1`, `${url}/lab?a=1`],
      ['location', `https://${host}/x`, `${url}/x`],
      ['content-location', `http://127.0.0.1:${P}/x`, `${url}/x`],
      ['refresh', `0; url=http://127.0.0.1:${P}/x`, `0; url=${url}/x`],
      ['refresh', `5;URL='http://localhost:${P}/x'`, `5;URL='${url}/x'`],
      ['refresh', '5', '5'],
      [
        'link',
        `<http://127.0.0.1:${P}/a.css>; rel=preload, </b.js>; rel=preload`,
        `<${url}/a.css>; rel=preload, </b.js>; rel=preload`,
      ],
      ['access-control-allow-origin', `http://127.0.0.1:${P}`, url],
      ['access-control-allow-origin', '*', '*'],
      ['hx-redirect', `http://localhost:${P}/next`, `${url}/next`],
      [
        'content-security-policy',
        `upgrade-insecure-requests; connect-src 'self' ws://localhost:${P} localhost:${P} https://cdn.example:8443`,
        `connect-src 'self' ws://${host} ${host} https://cdn.example:8443`,
      ],
      ['location', 'https://other.example/', 'https://other.example/'],
      ['location', `http://localhost:${P + 1}/`, `http://localhost:${P + 1}/`],
      ['location', `http://localhost.example:${P}/`, `http://localhost.example:${P}/`],
      ['location', `http://127.0.0.1:${P}@other.example/`, `http://127.0.0.1:${P}@other.example/`],
      ['location', 'lab?next=http://localhost/', 'lab?next=http://localhost/'],
      ['location', '/lab', '/lab'],
    ]
    for (const [name, sent, received] of moved) {
      answer = { [name]: sent }
      expect({ sent, received: (await askByName(url)).headers[name] }).toEqual({ sent, received })
    }
    answer = {
      'alt-svc': 'h3=":443"',
      'strict-transport-security': 'max-age=1',
      'clear-site-data': '"cookies"',
    }
    const { headers } = await askByName(url)
    expect([headers['alt-svc'], headers['strict-transport-security']]).toEqual([undefined, undefined])
    expect(headers['clear-site-data']).toBe('"cookies"')
  })

  test('keeps cookies at its own host', async () => {
    const { port } = await webServer((_, response) =>
      response.writeHead(200, { 'set-cookie': farCookies }).end(),
    )
    const { url } = await tunnelTo(port)
    expect((await askByName(url)).headers['set-cookie']).toEqual(nearCookies)
  })

  test('keeps cookies at its own host, also from a WebSocket’s answer', async () => {
    const { server, port } = await webServer((_, response) => response.end())
    new WebSocketServer({ server }).on('headers', headers =>
      headers.push(...farCookies.map(cookie => `Set-Cookie: ${cookie}`), 'Keep-Alive: timeout=5'),
    )
    const { local, url } = await tunnelTo(port)
    const socket = new WebSocket(`ws://127.0.0.1:${local.port}/`, { headers: { host: new URL(url).host } })
    const [answer] = await once(socket, 'upgrade')
    expect(answer.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'websocket' })
    expect(answer.headers['set-cookie']).toEqual(nearCookies)
    expect(answer.headers).not.toHaveProperty('keep-alive')
    socket.close()
  })

  test('carries 200 cookies of 4 KB in both directions', async () => {
    const cookies = Array.from({ length: 200 }, (_, at) => `c${at}=${'x'.repeat(4080)}`)
    let heard = ''
    const { port } = await webServer((request, response) => {
      heard = request.headers.cookie ?? ''
      response.writeHead(200, { 'set-cookie': cookies })
      response.end('set')
    })
    const { url } = await tunnelTo(port)
    const answer = await askByName(url, { headers: { cookie: cookies.join('; ') } })
    expect(answer).toMatchObject({ status: 200, text: 'set', headers: { 'set-cookie': cookies } })
    expect(heard).toBe(cookies.join('; '))
  })

  test('passes the headers at once, and the body no faster than it is read', async () => {
    const size = 64 * 1024 * 1024
    const chunk = Buffer.alloc(65_536, 7)
    let written = 0
    let begin: () => void = () => undefined
    const { port } = await webServer((_, response) => {
      response.flushHeaders()
      const pump = () => {
        while (written < size) {
          written += chunk.length
          if (!response.write(chunk)) return void response.once('drain', pump)
        }
        response.end()
      }
      begin = pump
    })
    const { local, url } = await tunnelTo(port)
    const near = connect(local.port, '127.0.0.1')
    near.write(`GET / HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\n\r\n`)
    await once(near, 'data')
    near.pause()
    begin()
    let before = -1
    while (written !== before || written === 0) {
      before = written
      await new Promise(resolve => setTimeout(resolve, 300))
    }
    expect(written).toBeLessThan(size / 2)
    near.resume()
    await once(near, 'end')
    expect(written).toBe(size)
  })

  test('passes a request body, and a refusal of an upgrade', async () => {
    const { server, port } = await webServer((request, response) => void request.pipe(response))
    server.on('upgrade', (_, socket) =>
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno'),
    )
    const { local, url } = await tunnelTo(port)
    const body = 'x'.repeat(3_000_000)
    expect((await askByName(url, { method: 'POST', body })).text).toBe(body)
    const socket = new WebSocket(`ws://127.0.0.1:${local.port}/`, { headers: { host: new URL(url).host } })
    const [, answer] = await once(socket, 'unexpected-response')
    expect(answer.statusCode).toBe(401)
    expect(String((await once(answer, 'data'))[0])).toBe('no')
  })

  test('reuses a connection, and cuts it when the server does', async () => {
    let connections = 0
    const { server, port } = await webServer((request, response) => {
      if (request.url === '/cut') request.socket.destroy()
      else response.end('kept')
    })
    server.on('connection', () => {
      connections += 1
    })
    const { url } = await tunnelTo(port)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    endings.push(() => agent.destroy())
    const ask = (path: string) => askByName(url + path, { agent })
    for (let times = 0; times < 20; times++) expect((await ask('/')).text).toBe('kept')
    expect(connections).toBe(1)
    await expect(ask('/cut')).rejects.toThrow('socket hang up')
    expect((await ask('/')).text).toBe('kept')
  })

  test.each([
    ['a status that is none', 'HTTP/1.1 099 x\r\n\r\n'],
    ['a switch nobody asked for', 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nabc'],
    ['no HTTP', 'what?\r\n\r\n'],
    ['nothing', ''],
    ['headers without an end', `HTTP/1.1 200 x\r\n${'a: b\r\n'.repeat(200_000)}`],
    ['a control character', 'HTTP/1.1 200 \u0001\r\na: \u0001\r\ncontent-length: 0\r\n\r\n'],
  ])('contains an answer with %s', async (_, bytes) => {
    const port = await tcpServer(socket => socket.once('data', () => socket.end(bytes)))
    const { url } = await tunnelTo(port)
    const { status, text } = await askByName(url)
    expect({ status, text }).toEqual({ status: 502, text: expect.stringMatching(/is not a web server/) })
  })
})
