import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk({ of: 'the file' })
const soon = { timeout: 150_000 }
let berth: Berth
let page: Page

beforeAll(async () => {
  berth = await desk.start()
  page = await berth.page()
  await page.getByText('This is the demo market.').waitFor()
})

const details = (instance: number, tab: string) =>
  `app://berth/index.html?details#/instances/${instance}/${tab}`
const open = (address: string) => page.evaluate(address => window.open(address) === null, address)

test('the window has every protection, and Chromium makes no calls', async () => {
  const found = await berth.look(({ app, BrowserWindow, session }) => ({
    // Its declarations lack it.
    preferences: (
      BrowserWindow.getAllWindows()[0] as { webContents: { getLastWebPreferences?(): object } } | undefined
    )?.webContents.getLastWebPreferences?.(),
    switches: ['disable-background-networking', 'disable-component-update', 'no-pings'].filter(name =>
      app.commandLine.hasSwitch(name),
    ),
    loose: ['no-sandbox', 'disable-web-security'].filter(name => app.commandLine.hasSwitch(name)),
    spellChecker: session.defaultSession.isSpellCheckerEnabled(),
    userData: app.getPath('userData'),
    name: app.getName(),
  }))
  expect(found.preferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    webviewTag: false,
  })
  // Electron leaves out what is off by default.
  expect(found.preferences).not.toMatchObject({ nodeIntegrationInWorker: true })
  const { preferences: _, ...others } = found
  expect(others).toEqual({
    switches: ['disable-background-networking', 'disable-component-update', 'no-pings'],
    loose: [],
    spellChecker: false,
    userData: join(desk.home, 'electron'),
    name: 'Berth',
  })
  expect((await stat(desk.home)).mode & 0o077).toBe(0)
})

test('the page’s process is in the sandbox: the kernel filters its calls, and it gains no rights', async () => {
  const pid = await berth.look(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]?.webContents.getOSProcessId(),
  )
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  expect(status).toMatch(/^Seccomp:\s+2$/m)
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
})

test('the page is served only from the built files, with its policy', async () => {
  const answers = await page.evaluate(async () => {
    const ask = async (address: string, method = 'GET') => {
      const answer = await fetch(address, { method }).catch(() => undefined)
      const header = (name: string) => answer?.headers.get(name)
      return {
        status: answer?.status,
        policy: header('content-security-policy'),
        kind: header('x-content-type-options'),
      }
    }
    const script = document.querySelector('script[src]')?.getAttribute('src')
    return {
      page: await ask('app://berth/index.html'),
      script: await ask(new URL(script ?? '', location.href).href),
      posted: await ask('app://berth/index.html', 'POST'),
      refused: await Promise.all(
        ['app://other/index.html', 'app://berth/../package.json', 'app://berth/%2e%2e/main/main.js'].map(
          async address => (await ask(address)).status,
        ),
      ),
    }
  })
  expect(answers.page).toMatchObject({ status: 200, kind: 'nosniff' })
  expect(answers.page.policy).toContain("default-src 'self'")
  expect(answers.page.policy).not.toMatch(/unsafe-inline|unsafe-eval|https?:|ws:/)
  expect(answers.script.status).toBe(200)
  expect(answers.posted.status).toBe(405)
  expect(answers.refused).not.toContain(200)
  // The refusals are on the console.
  berth.errors.splice(0)
})

test('the page’s session has no network, not even for WebRTC', async () => {
  const found = await berth.look(async ({ BrowserWindow, session }) => ({
    proxies: await Promise.all(
      ['https://example.com/', 'http://127.0.0.1/'].map(url => session.defaultSession.resolveProxy(url)),
    ),
    webRtc: BrowserWindow.getAllWindows()[0]?.webContents.getWebRTCIPHandlingPolicy(),
    updater: await session.fromPartition('electron-updater').resolveProxy('http://127.0.0.1/'),
  }))
  expect(found).toEqual({
    proxies: Array(2).fill('SOCKS5 127.0.0.1:9'),
    webRtc: 'disable_non_proxied_udp',
    updater: 'DIRECT',
  })
})

test('Chromium keeps the compiled scripts of the page for the next start', async () => {
  const folder = join(desk.home, 'electron/Code Cache/js')
  await expect.poll(async () => (await readdir(folder)).length, soon).toBeGreaterThan(2)
})

test('messages are accepted only from the main frame of Berth’s page', async () => {
  const states = (frame: { url: string; parent: object | null }, message: unknown) =>
    berth.look(
      async ({ BrowserWindow, ipcMain }, [frame, message]) => {
        const sender = BrowserWindow.getAllWindows()[0]?.webContents
        if (!sender) throw new Error('no window')
        const sent: unknown[] = []
        const send = sender.send.bind(sender)
        sender.send = (channel, given) => {
          if (given.kind === 'state') sent.push(given)
          send(channel, given)
        }
        ipcMain.emit('berth', { sender, senderFrame: frame }, message)
        await new Promise(resolve => setImmediate(resolve))
        sender.send = send
        return sent.length
      },
      [frame, message] as const,
    )
  const own = { url: 'app://berth/index.html', parent: null }
  const sync = { kind: 'sync' }
  expect(await states(own, sync)).toBe(1)
  expect(await states({ ...own, url: 'https://evil.example/' }, sync)).toBe(0)
  expect(await states({ ...own, parent: {} }, sync)).toBe(0)
  for (const rubbish of [null, 7, 'sync', [], {}, { kind: 'command' }, { kind: 'data', stream: 1 }])
    expect(await states(own, rubbish)).toBe(0)
})

test('file dialogs and paths stay in the main process', async () => {
  await berth.look(({ dialog }) => {
    dialog.showOpenDialog = async (...given: unknown[]) => {
      const { defaultPath } = given.at(-1) as Electron.OpenDialogOptions
      const name = defaultPath === '/somewhere/secret folder' ? 'weights' : 'data.csv'
      return { canceled: false, filePaths: [`/somewhere/secret folder/${name}`] }
    }
  })
  expect(await berth.command('chooseFiles', { what: 'files' })).toEqual({
    choice: expect.stringMatching(/^c[0-9a-f]{32}$/),
    names: ['data.csv'],
  })
  expect(await berth.command('chooseFolder', {})).toEqual({
    choice: expect.stringMatching(/^c/),
    name: 'weights',
  })
  expect(JSON.stringify(await berth.state())).not.toContain('secret folder')
})

test('entries of the application menu open their place and show the window', async () => {
  const click = (path: string[]) =>
    berth.look(({ Menu }, path) => {
      let items = Menu.getApplicationMenu()?.items ?? []
      for (const label of path.slice(0, -1))
        items = items.find(item => item.label === label)?.submenu?.items ?? []
      items.find(item => item.label === path.at(-1))?.click()
    }, path)
  await berth.closeToTray()
  await click(['Go', 'Hosting'])
  await expect.poll(() => berth.visible()).toBe(true)
  await expect.poll(() => new URL(page.url()).hash).toBe('#/hosting')
  await click(['Help', 'Keyboard shortcuts'])
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
})

test('an instance’s details open in one hardened window each, and keep their size', async () => {
  expect(await open(details(4711, 'terminal'))).toBe(true)
  await expect.poll(async () => (await berth.windows())[1]?.visible, soon).toBe(true)
  expect((await berth.windows())[1]?.url).toContain('?details#/instances/4711')
  await open(details(4711, 'monitor'))
  for (const other of ['/offers', '/instances/4711/../../x', '/instances/1?details'])
    await open(`app://berth/index.html?details#${other}`)
  await berth.state()
  expect(await berth.windows()).toHaveLength(2)

  const place = { x: 40, y: 50, width: 700, height: 500 }
  await berth.look(({ BrowserWindow }, place) => {
    for (const window of BrowserWindow.getAllWindows())
      if (window.webContents.getURL().includes('?details')) window.setBounds(place)
  }, place)
  await expect
    .poll(() => readFile(join(desk.home, 'window.json'), 'utf8').catch(() => ''), soon)
    .toContain('"width": 700')
  await berth.close(1)
  await expect.poll(async () => (await berth.windows()).length, soon).toBe(1)
  await open(details(4711, 'terminal'))
  await expect.poll(async () => (await berth.windows())[1]?.bounds, soon).toEqual(place)
  await berth.close(1)
  await expect.poll(async () => (await berth.windows()).length, soon).toBe(1)
})

test('closing a window with unsaved changes asks first', async () => {
  await open(details(4712, 'files'))
  await expect.poll(async () => (await berth.windows())[1]?.visible, soon).toBe(true)
  const other = await berth.page(details(4712, 'files'))
  // Chromium asks only for a page that the user has used.
  await other.locator('body').click({ position: { x: 5, y: 5 } })
  await other.evaluate(() => addEventListener('beforeunload', event => event.preventDefault()))
  await berth.close(1)
  await expect.poll(() => berth.questions()).toHaveLength(1)
  await berth.close(1)
  expect(await berth.questions()).toMatchObject([
    { message: 'Close this window?', enter: 'Cancel', escape: 'Cancel' },
  ])
  await berth.answer('Cancel')
  expect(await berth.windows()).toHaveLength(2)
  await berth.close(1)
  await expect.poll(() => berth.questions()).toHaveLength(1)
  await berth.answer('Close')
  await expect.poll(async () => (await berth.windows()).length, soon).toBe(1)
})

test('a hidden window ends after a while, and a tray click opens it where it was', async () => {
  await berth.startAgain('berth://offers')
  await expect.poll(() => new URL(page.url()).hash, soon).toBe('#/offers')
  await page.getByRole('link', { name: 'Spending' }).click()
  await expect.poll(() => new URL(page.url()).hash).toBe('#/spending')
  // The five minutes pass at once.
  await berth.look(() => {
    const wait = setTimeout
    const hasten = (call: () => void, ms?: number) => wait(call, ms === 300_000 ? 0 : ms)
    globalThis.setTimeout = hasten as typeof setTimeout
  })
  await berth.close()
  await expect.poll(async () => (await berth.windows()).length, soon).toBe(0)
  const { activity } = await berth.state()
  expect(Object.values(activity).filter(({ kind }) => kind === 'error')).toEqual([])

  await desk.panel.icons.click()
  await expect.poll(() => berth.visible(), soon).toBe(true)
  page = await berth.page()
  await page.getByRole('heading', { name: 'Spending' }).waitFor()
  // It isn't sent again to where the link led.
  expect(new URL(page.url()).hash).toBe('#/spending')
})

test('a page that closes itself is there again at the next click on the tray', async () => {
  await page.evaluate(() => window.close())
  await expect.poll(async () => (await berth.windows()).length).toBe(0)
  await desk.panel.icons.click()
  await expect.poll(() => berth.visible(), soon).toBe(true)
  page = await berth.page()
  await page.getByText('This is the demo market.').waitFor()
  expect(berth.errors).toEqual([])
})
