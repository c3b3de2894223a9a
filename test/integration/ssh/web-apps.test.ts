import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { InstanceTarget } from '#core/access/connect-with-key.ts'
import { createTunnels, type Tunnels } from '#core/access/instance-tunnel.ts'
import { portPurpose } from '#core/access/port-tunnel.ts'
import { createStore } from '#core/storage/store.ts'
import { systemRandom } from '#platform/clock-and-random.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import { openBrowser, pagesOnly } from '#test/berth/chromium.ts'
import { listen } from '#test/loopback.ts'
import { accountView, emptyState, instanceView } from '#test/unit/views.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { noNginx, startNginx } from './nginx.ts'
import { noSshd } from './own-root.ts'
import { freePort, type Sshd, startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

describe.skipIf(noSshd)(`through a tunnel, in Chromium,${noSshd}`, () => {
  let sshd: Sshd
  let browser: Browser
  let page: Page
  let machine: ScratchMachine
  let ssh: Ssh
  let tunnels: Tunnels
  const endings: (() => unknown)[] = []
  const instance = instanceView({ id: 4711 })

  beforeAll(async () => {
    sshd = await startSshd()
    browser = await openBrowser([], pagesOnly)
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await sshd?.close()
  })
  beforeEach(async () => {
    machine = scratchMachine()
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
    const access = { connect: () => ssh.connect(target({ proxy: sshd })) }
    const accounts = { [account]: accountView({ id: account }, instance) }
    const store = createStore({ ...emptyState(), accounts })
    tunnels = createTunnels({ store, clock: machine.clock, random: systemRandom, access })
    page = await browser.newPage()
  })
  afterEach(async () => {
    await page.close()
    await tunnels.close()
    for (const end of endings.splice(0).reverse()) await end()
    await ssh.close()
    machine.remove()
  })

  async function open(port: number): Promise<string> {
    const client = createClient({ baseUrl: parseBaseUrl('http://127.0.0.1:1'), key: 'none' })
    const into = (): InstanceTarget => ({ account, instance, client })
    return (await tunnels.open(into, portPurpose(port, machine.clock))) ?? 'no page'
  }

  async function serves(answer: RequestListener): Promise<{ server: Server; port: number }> {
    const server = createServer(answer)
    endings.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return { server, port: await listen(server) }
  }

  const html = (body: string) => `<!doctype html><title>app</title>${body}`

  test.skipIf(noNginx).each([
    ['answers plain HTTP with 400', ''],
    ['leads plain HTTP to TLS', 'error_page 497 =308 https://$http_host$request_uri;'],
  ])('a page of nginx with TLS that %s is shown, and its redirects are followed', async (_, lines) => {
    const port = await freePort()
    endings.push(
      await startNginx(
        port,
        `listen 127.0.0.1:${port} ssl; ${lines} absolute_redirect on;
        add_header Strict-Transport-Security "max-age=31536000" always;
        add_header Content-Security-Policy "upgrade-insecure-requests; default-src 'self' 'unsafe-inline'" always;
        location = / { return 302 /app/; }
        location /app/ { default_type text/html; return 200 '<script src="/app.js"></script>'; }
        location = /app.js { default_type text/javascript; return 200 'document.title = "shown"'; }`,
      ),
    )
    await page.goto(await open(port))
    await expect.poll(() => page.title()).toBe('shown')
    expect(new URL(page.url())).toMatchObject({ pathname: '/app/', protocol: 'http:' })
  })

  test('a form is taken by a server that compares Origin with X-Forwarded-Host or Host', async () => {
    const { port } = await serves(({ method, headers }, response) => {
      response.setHeader('content-type', 'text/html')
      if (method === 'GET') {
        response.end(html('<form method="post"><button name="a" value="1">Send</button></form>'))
        return
      }
      const same = new URL(headers.origin ?? '').host === (headers['x-forwarded-host'] ?? headers.host)
      response.writeHead(same ? 200 : 403).end(html(same ? 'taken' : 'refused'))
    })
    await page.goto(await open(port))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('taken').waitFor()
  })

  test('a page is opened from another site and speaks by WebSocket, where its server wants its own address', async () => {
    /** ComfyUI's rule. */
    const refused = ({ headers }: IncomingMessage) =>
      headers['sec-fetch-site'] === 'cross-site' ||
      (headers.origin !== undefined && new URL(headers.origin).host !== headers.host)
    const { server, port } = await serves((request, response) => {
      if (refused(request)) {
        response.writeHead(403).end('refused')
        return
      }
      response.setHeader('content-type', 'text/html')
      response.end(
        html(
          `<output></output><script>
            const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws')
            socket.onopen = () => socket.send('queue')
            socket.onmessage = async ({ data }) => {
              const { status } = await fetch('/prompt', { method: 'POST' })
              document.querySelector('output').value = data + ' ' + status
            }
          </script>`,
        ),
      )
    })
    new WebSocketServer({ server, verifyClient: ({ req }: { req: IncomingMessage }) => !refused(req) }).on(
      'connection',
      socket => socket.on('message', text => socket.send(`heard ${text}`)),
    )
    const { port: other } = await serves((_, response) =>
      response.setHeader('content-type', 'text/html').end(html('')),
    )
    await page.goto(`http://127.0.0.1:${other}`)
    await page.evaluate(url => location.replace(url), await open(port))
    await page.getByText('heard queue 200').waitFor()
  })

  test('a page works that asks at the address which its server wrote into it', async () => {
    /** As Gradio does: the root of everything is an absolute address. */
    const { port } = await serves(({ method, headers, url }, response) => {
      const root = `http://${headers['x-forwarded-host'] ?? headers.host}`
      const same = headers.origin === undefined || headers.origin === root
      if (method === 'POST') {
        response.writeHead(same ? 200 : 403).end(`${root}/file.txt`)
        return
      }
      response.setHeader('content-type', url === '/' ? 'text/html' : 'text/plain')
      response.end(
        url === '/'
          ? html(
              `<output></output><script>
                const config = ${JSON.stringify({ root })}
                fetch(config.root + '/run', { method: 'POST' })
                  .then(answer => answer.text())
                  .then(file => fetch(file))
                  .then(async file => { document.querySelector('output').value = await file.text() })
              </script>`,
            )
          : 'the file',
      )
    })
    await page.goto(await open(port))
    await page.getByText('the file').waitFor()
  })

  test('a page opens whose server says nothing until its model is loaded', async () => {
    const { clock } = machine
    const after = clock.after.bind(clock)
    // The time that Berth waits for an answer passes at once.
    clock.after = (milliseconds, done) =>
      after([3000, 10_000].includes(milliseconds) ? 100 : milliseconds, done)
    const waiting: (() => void)[] = []
    let loaded = false
    const { port } = await serves((_, response) => {
      const answer = () => response.setHeader('content-type', 'text/html').end(html('loaded'))
      if (loaded) answer()
      else waiting.push(answer)
    })
    const url = await open(port)
    const asked = waiting.length
    const shown = page.goto(url)
    await expect.poll(() => waiting.length).toBeGreaterThan(asked)
    loaded = true
    for (const answer of waiting) answer()
    await shown
    await page.getByText('loaded').waitFor()
  })
})
