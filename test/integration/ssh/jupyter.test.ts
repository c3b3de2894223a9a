import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InstanceTarget } from '#core/access/connect-with-key.ts'
import { createTunnels, type Tunnels } from '#core/access/instance-tunnel.ts'
import { jupyterPurpose } from '#core/access/jupyter-tunnel.ts'
import { portPurpose } from '#core/access/port-tunnel.ts'
import { createStore } from '#core/storage/store.ts'
import { systemRandom } from '#platform/clock-and-random.ts'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { tunnelKey } from '#shared/instance/tunnel.ts'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import { openBrowser, pagesOnly } from '#test/berth/chromium.ts'
import { codeOf } from '#test/berth/steps.ts'
import { accountView, emptyState, instanceView } from '#test/unit/views.ts'
import { type JupyterNotebook, noJupyter, startJupyter } from './jupyter-notebook.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { noNginx, startNginx } from './nginx.ts'
import { freePort, type Sshd, startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

describe.skipIf(noJupyter)(`a real Jupyter through a tunnel${noJupyter}`, () => {
  let sshd: Sshd
  let jupyter: JupyterNotebook
  let browser: Browser
  let machine: ScratchMachine
  let ssh: Ssh
  let tunnels: Tunnels
  const endings: (() => unknown)[] = []
  const instance = instanceView({ id: 4711, jupyter: true })
  const store = createStore({
    ...emptyState(),
    accounts: { [account]: accountView({ id: account }, instance) },
  })
  const shown = () => store.get().accounts[account]?.tunnels[tunnelKey(4711, jupyter.port)]

  beforeAll(async () => {
    sshd = await startSshd()
    jupyter = await startJupyter(sshd.home)
    browser = await openBrowser([], pagesOnly)
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await jupyter?.stop()
    await sshd?.close()
  })
  beforeEach(async () => {
    machine = scratchMachine()
    ssh = createSsh(machine)
    sshd.authorize((await ssh.keysOf(account).locate('berth')).publicKey)
    const access = { connect: () => ssh.connect(target({ proxy: sshd })) }
    tunnels = createTunnels({ store, clock: machine.clock, random: systemRandom, access })
  })
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end()
    await tunnels.close()
    await ssh.close()
    machine.remove()
  })

  /** The instance's record has no token, and Jupyter's port is not the usual one, so Berth asks the instance. */
  async function open(): Promise<URL> {
    const client = createClient({ baseUrl: parseBaseUrl('http://127.0.0.1:1'), key: 'none' })
    const into = (): InstanceTarget => ({ account, instance, client })
    const access = { connect: () => ssh.connect(target({ proxy: sshd })) }
    const purpose = jupyterPurpose({ target: into, token: undefined, access, clock: machine.clock })
    return new URL((await tunnels.open(into, purpose)) ?? '')
  }

  /** Opens a new notebook in a page that Jupyter let in; gives what runs a cell there. */
  async function openNotebook(page: Page) {
    const path = await page.evaluate(async () => {
      const xsrf = /_xsrf=([^;]+)/.exec(document.cookie)?.[1] ?? ''
      const headers = { 'x-xsrftoken': xsrf }
      const body = JSON.stringify({ type: 'notebook' })
      const made = await fetch('/api/contents', { method: 'POST', headers, body })
      return ((await made.json()) as { path: string }).path
    })
    await page.goto(new URL(`/notebooks/${encodeURIComponent(path)}`, page.url()).href)
    return async (code: string, output: string) => {
      await page.locator('.kernel_idle_icon').waitFor({ timeout: 150_000 })
      const cell = page.locator('.code_cell').last()
      await cell.locator('.CodeMirror').click()
      await page.keyboard.type(code)
      await page.keyboard.press('Shift+Enter')
      await page.locator('.output_text', { hasText: output }).first().waitFor({ timeout: 150_000 })
    }
  }

  test('runs a cell in Chromium, and another after the connection was cut', async () => {
    const address = await open()
    expect(address.searchParams.get('token')).toBe(jupyter.token)
    expect(address.hostname).toMatch(/^i4711-[0-9a-f]{16}\.localhost$/)
    expect(Number(address.port)).not.toBe(jupyter.port)
    expect(shown()).toMatchObject({
      kind: 'jupyter',
      step: 'open',
      host: address.hostname,
      localPort: Number(address.port),
      web: true,
    })

    const page = await browser.newPage()
    await page.goto(address.href)
    const runs = await openNotebook(page)
    await runs('print(6 * 7)', '42')

    const cut = page.waitForEvent('websocket', { timeout: 150_000 })
    expect(sshd.dropConnections()).toBeGreaterThan(0)
    await cut // Jupyter's page reconnects to its kernel at the same address
    await expect.poll(() => shown()?.step).toBe('open')
    await runs('print(40 + 3)', '43')
    expect(shown()?.localPort).toBe(Number(address.port))
    await page.close()
  })

  test('runs a cell at 127.0.0.1 where the user chose that, until its login is taken back', async () => {
    store.change(draft => {
      draft.settings.tunnelsAtLoopback = true
    })
    endings.push(() =>
      store.change(draft => {
        draft.settings.tunnelsAtLoopback = false
      }),
    )
    const address = await open()
    const page = await browser.newPage()
    endings.push(() => page.close())
    await page.goto(address.href)
    await page.waitForURL(({ pathname }) => pathname === '/tree')
    expect(new URL(page.url()).host).toBe(`127.0.0.1:${address.port}`)
    const runs = await openNotebook(page)
    await runs('print(6 * 7)', '42')

    const logins = async () => {
      const cookies = await page.context().cookies(page.url())
      return cookies.filter(({ name }) => name.includes('username-')).map(({ name }) => name)
    }
    expect(await logins()).toEqual([expect.stringMatching(`^berth-${address.port}-[0-9a-f]{32}-username-`)])
    await page.goto(new URL('/logout', page.url()).href)
    expect(await logins()).toEqual([])
    await page.goto(new URL('/tree', page.url()).href)
    expect(new URL(page.url()).pathname).toBe('/login')
  })

  test.skipIf(noNginx)(`runs a cell behind nginx, which redirects HTTP to TLS${noNginx}`, async () => {
    const front = await freePort()
    endings.push(
      await startNginx(
        front,
        `listen 127.0.0.1:${front} ssl; error_page 497 =308 https://$http_host$request_uri;
        location / {
          proxy_pass http://127.0.0.1:${jupyter.port}; proxy_http_version 1.1;
          proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto https;
          proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
        }`,
      ),
    )
    const client = createClient({ baseUrl: parseBaseUrl('http://127.0.0.1:1'), key: 'none' })
    const into = (): InstanceTarget => ({ account, instance, client })
    const address = new URL((await tunnels.open(into, portPurpose(front, machine.clock))) ?? '')
    address.searchParams.set('token', jupyter.token)
    const page = await browser.newPage()
    endings.push(() => page.close())
    await page.goto(address.href)
    const runs = await openNotebook(page)
    await runs('print(6 * 7)', '42')
  })

  // The last one: it ends Jupyter.
  test('that does not run is reported as jupyter_missing', async () => {
    await jupyter.stop()
    const poor = { ...instance, jupyter: false }
    const client = createClient({ baseUrl: parseBaseUrl('http://127.0.0.1:1'), key: 'none' })
    const into = (): InstanceTarget => ({ account, instance: poor, client })
    const access = { connect: () => ssh.connect(target({ proxy: sshd })) }
    const purpose = jupyterPurpose({ target: into, token: undefined, access, clock: machine.clock })
    expect(await codeOf(tunnels.open(into, purpose))).toBe('jupyter_missing')
    expect(store.get().accounts[account]?.tunnels[tunnelKey(4711, 8080)]).toMatchObject({
      step: 'failed',
      problem: { code: 'jupyter_missing' },
    })
  })
})
