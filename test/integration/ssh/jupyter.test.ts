import { type Browser, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tunnelKey } from '../../../electron/contract/instance/tunnel.ts'
import type { InstanceTarget } from '../../../electron/core/access/enter.ts'
import { jupyterPurpose } from '../../../electron/core/access/tunnels/jupyter.ts'
import { createTunnels, type Tunnels } from '../../../electron/core/access/tunnels/tunnels.ts'
import { createStore } from '../../../electron/core/state/store.ts'
import { systemRandom } from '../../../electron/local/random.ts'
import { parseBaseUrl } from '../../../electron/service/base-url.ts'
import { createClient } from '../../../electron/service/client.ts'
import { createSsh, type Ssh } from '../../../electron/ssh/connection/connections.ts'
import { askByName } from '../../ask-by-name.ts'
import { accountView, emptyState, instanceView } from '../../unit/views.ts'
import { hasJupyter, type JupyterNotebook, startJupyter } from './jupyter-notebook.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { hasSshd, type Sshd, startSshd } from './sshd.ts'
import { account, target } from './steps.ts'

describe.skipIf(!hasSshd || !hasJupyter)('a real Jupyter through a tunnel', () => {
  let sshd: Sshd
  let jupyter: JupyterNotebook
  let browser: Browser
  let machine: ScratchMachine
  let ssh: Ssh
  let tunnels: Tunnels
  const instance = instanceView({ id: 4711, jupyter: true })
  const store = createStore({
    ...emptyState(),
    accounts: { [account]: accountView({ id: account }, instance) },
  })
  const shown = () => store.get().accounts[account]?.tunnels[tunnelKey(4711, jupyter.port)]

  beforeAll(async () => {
    sshd = await startSshd()
    jupyter = await startJupyter(sshd.home)
    browser = await chromium.launch({
      executablePath: process.env['BERTH_CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    })
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

    const made = await askByName(new URL('/api/contents', address), {
      method: 'POST',
      headers: { authorization: `token ${jupyter.token}` },
      body: JSON.stringify({ type: 'notebook' }),
    })
    const { path } = JSON.parse(made.text) as { path: string }
    const page = await browser.newPage()
    await page.goto(address.href)
    await page.goto(new URL(`/notebooks/${encodeURIComponent(path)}`, address).href)
    const runs = async (code: string, output: string) => {
      await page.locator('.kernel_idle_icon').waitFor({ timeout: 45_000 })
      const cell = page.locator('.code_cell').last()
      await cell.locator('.CodeMirror').click()
      await page.keyboard.type(code)
      await page.keyboard.press('Shift+Enter')
      await page.locator('.output_text', { hasText: output }).first().waitFor({ timeout: 45_000 })
    }
    await runs('print(6 * 7)', '42')

    const cut = page.waitForEvent('websocket', { timeout: 60_000 })
    expect(sshd.dropConnections()).toBeGreaterThan(0)
    await cut // Jupyter's page reconnects to its kernel at the same address
    await expect.poll(() => shown()?.step, { timeout: 45_000 }).toBe('open')
    await runs('print(40 + 3)', '43')
    expect(shown()?.localPort).toBe(Number(address.port))
    await page.close()
  }, 120_000)

  test('that does not run is reported as jupyter_missing', async () => {
    await jupyter.stop()
    const poor = { ...instance, jupyter: false }
    const client = createClient({ baseUrl: parseBaseUrl('http://127.0.0.1:1'), key: 'none' })
    const into = (): InstanceTarget => ({ account, instance: poor, client })
    const access = { connect: () => ssh.connect(target({ proxy: sshd })) }
    const purpose = jupyterPurpose({ target: into, token: undefined, access, clock: machine.clock })
    await expect(tunnels.open(into, purpose)).rejects.toMatchObject({
      problem: { code: 'jupyter_missing' },
    })
    expect(store.get().accounts[account]?.tunnels[tunnelKey(4711, 8080)]).toMatchObject({
      step: 'failed',
      problem: { code: 'jupyter_missing' },
    })
    jupyter = await startJupyter(sshd.home)
  })
})
