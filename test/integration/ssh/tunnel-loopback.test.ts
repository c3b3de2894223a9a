import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { askByName } from '#test/ask-by-name.ts'
import { noSshd } from './own-root.ts'
import { type OpenTunnel, useTunnels } from './tunnel-steps.ts'

describe.skipIf(noSshd)(`a tunnel to a web server${noSshd}`, () => {
  const { tunnelTo, webServer } = useTunnels()

  /** Opens the address at 127.0.0.1 as a browser does; gives its cookie. */
  async function comeIn({ atLoopback, url }: OpenTunnel): Promise<string> {
    const { headers } = await askByName(atLoopback(`${url}/`))
    return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  }

  test('at 127.0.0.1, accepts its secret, and keeps the cookie from scripts and servers', async () => {
    const asked: IncomingHttpHeaders[] = []
    const { port } = await webServer((request, response) => {
      asked.push(request.headers)
      response.end(`in at ${request.url}`)
    })
    const tunnel = await tunnelTo(port)
    const led = await askByName(tunnel.atLoopback(`${tunnel.url}/lab?token=a;b`))
    const own = `berth-${tunnel.local.port}=${'f'.repeat(64)}`
    expect(led).toMatchObject({ status: 200, text: '' })
    expect(led.headers).toMatchObject({
      refresh: '0; url=/lab?token=a;b',
      'set-cookie': [`${own}; Path=/; HttpOnly; SameSite=Strict`],
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect([asked, tunnel.events]).toEqual([[], []])

    const at = `http://127.0.0.1:${tunnel.local.port}/lab`
    for (const cookie of [own, `berth-1=x; ${own}; berth-1-login=x`])
      expect((await askByName(at, { headers: { cookie } })).text).toBe('in at /lab')
    expect(asked.map(({ cookie }) => cookie)).toEqual([undefined, undefined])
    expect(tunnel.events).toEqual(['reached', 'reached'])
    expect((await askByName(at, { headers: { cookie: `a=1; ${own}` } })).text).toBe('in at /lab')
    expect(asked.at(-1)?.cookie).toBe('a=1')
  })

  test('at 127.0.0.1, rejects other users and other origins', async () => {
    let asked = 0
    const { server, port } = await webServer((_, response) => {
      asked += 1
      response.end('secret')
    })
    new WebSocketServer({ server }).on('connection', socket => socket.send('hello'))
    const tunnel = await tunnelTo(port)
    const cookie = await comeIn(tunnel)
    const origin = `http://127.0.0.1:${tunnel.local.port}`
    const wrong = cookie.replace(/f$/, '0')
    const sent: [path: string, headers: Record<string, string>, method?: string][] = [
      ['/', {}],
      ['/', { cookie: wrong }],
      ['/', { cookie: cookie.slice(0, -1) }],
      [`/${'f'.repeat(63)}0/`, {}],
      [`/${'f'.repeat(63)}/`, {}],
      [`/${'f'.repeat(64)}/`, {}, 'POST'],
      ['/', { cookie, origin: 'http://127.0.0.1:1' }],
      ['/', { cookie, origin: 'null' }],
      ['/', { cookie, 'sec-fetch-site': 'same-site' }],
      ['/', { cookie, 'sec-fetch-site': 'cross-site' }],
      ['/', { cookie, host: `localhost:${tunnel.local.port}` }],
    ]
    for (const [path, headers, method = 'GET'] of sent) {
      const { status, text } = await askByName(origin + path, { headers, method })
      expect({ path, headers, status, text }).toMatchObject({
        status: 403,
        text: /^Nothing is at this address/,
      })
    }
    const stranger = new WebSocket(`ws://127.0.0.1:${tunnel.local.port}/`, { headers: { origin } })
    expect(await once(stranger, 'error')).toMatchObject([{ message: expect.stringContaining('403') }])
    expect([asked, tunnel.events]).toEqual([0, []])

    expect((await askByName(origin, { headers: { cookie, origin, 'sec-fetch-site': 'none' } })).text).toBe(
      'secret',
    )
    const socket = new WebSocket(`ws://127.0.0.1:${tunnel.local.port}/`, { headers: { cookie, origin } })
    expect(String((await once(socket, 'message'))[0])).toBe('hello')
    socket.close()
  })

  test('at 127.0.0.1, keeps HttpOnly cookies from other tunnels', async () => {
    const heard: (string | undefined)[] = []
    const { port } = await webServer((request, response) => {
      heard.push(request.headers.cookie)
      const sets = ['login=1; Path=/; HttpOnly', 'xsrf=2; Path=/', 'old=; Domain=127.0.0.1; Path=/']
      response.writeHead(200, { 'set-cookie': sets }).end()
    })
    const [first, second] = [await tunnelTo(port), await tunnelTo(port)]
    const jar = [await comeIn(first), await comeIn(second)]
    const ask = ({ local }: OpenTunnel) =>
      askByName(`http://127.0.0.1:${local.port}/`, { headers: { cookie: jar.join('; ') } })
    const { headers } = await ask(first)
    const prefix = /^berth-\d+-[0-9a-f]{32}-/.exec(headers['set-cookie']?.[0] ?? '')?.[0] ?? ''
    expect(prefix).toContain(`-${first.local.port}-`)
    expect(headers['set-cookie']).toEqual([
      `${prefix}login=1; Path=/; HttpOnly`,
      'xsrf=2; Path=/',
      `${prefix}xsrf=2; Path=/; Max-Age=0`,
      'old=; Path=/',
      `${prefix}old=; Path=/; Max-Age=0`,
    ])
    jar.push(`${prefix}login=1`, 'xsrf=2')
    await ask(first)
    await ask(second)
    expect(heard).toEqual([undefined, 'login=1; xsrf=2', 'xsrf=2'])
  })

  test('at 127.0.0.1, ignores cookies set by another tunnel’s page', async () => {
    let heard: string | undefined
    const { port } = await webServer((request, response) => {
      heard = request.headers.cookie
      response.writeHead(200, { 'set-cookie': 'session=own; HttpOnly' }).end()
    })
    const tunnel = await tunnelTo(port)
    const entry = await comeIn(tunnel)
    const at = `http://127.0.0.1:${tunnel.local.port}/lab`
    const { headers } = await askByName(at, { headers: { cookie: entry } })
    const own = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    // A browser sends the cookies with the longest path first.
    const planted = [
      `berth-${tunnel.local.port}=${'0'.repeat(64)}`,
      `berth-${tunnel.local.port}-session=planted`,
      `berth-${tunnel.local.port}-${'0'.repeat(32)}-session=planted`,
      'session=planted',
    ]
    await askByName(at, { headers: { cookie: [...planted, entry, own].join('; ') } })
    expect(heard).toBe('session=own')
  })
})
