import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noNetwork, webRtcPolicy } from '../../../electron/shell/page-network.ts'
import type { SeenItem } from '../../electron/double/menu.ts'
import { useShell } from './shell.ts'

const berth = useShell()
const { start, offerTray, command, messages, state, menu } = berth

async function instanceEntry(): Promise<SeenItem | undefined> {
  return (await menu()).find(({ label }) => /#\d+:/.test(label))
}

test('it opens on the demo in a window with every protection on, and Chromium’s own calls off', async () => {
  await start()
  const [window] = await berth.ask('windows')
  expect(window?.url).toBe('app://berth/index.html')
  expect(window?.preferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    webviewTag: false,
    spellcheck: false,
  })
  const preload = await readFile(String(window?.preferences.preload), 'utf8')
  expect(preload).toContain('exposeInMainWorld')
  const told = await berth.ask('told')
  expect(told.spellChecker).toBe(false)
  expect(told.switches).toEqual(
    expect.arrayContaining(['disable-background-networking', 'disable-component-update']),
  )
  expect(told.schemes).toMatchObject([
    { scheme: 'app', privileges: { standard: true, secure: true, codeCache: true } },
  ])
  expect(told.paths['userData']).toBe(join(berth.session.home, 'home', 'electron'))
  expect((await stat(join(berth.session.home, 'home'))).mode & 0o077).toBe(0)
  expect((await state()).shown).toBe('demo')
})

test('the page has no network: WebRTC goes by its session’s proxy, which leads nowhere; no other session has it', async () => {
  await start()
  expect(await berth.ask('windows')).toMatchObject([{ webRtcPolicy }])
  // Only the pages' session has the proxy.
  expect((await berth.ask('told')).proxies).toEqual({ '': noNetwork })
})

test('the page comes from the built files alone, with its policy', async () => {
  await start()
  const page = await berth.ask('fetch', 'app://berth/index.html')
  expect(page?.status).toBe(200)
  expect(page?.headers['content-security-policy']).toContain("default-src 'self'")
  expect(page?.headers['content-security-policy']).not.toMatch(/unsafe-inline|unsafe-eval|https?:|ws:/)
  expect(page?.headers['x-content-type-options']).toBe('nosniff')
  const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(Buffer.from(page?.bytes ?? []).toString())?.[1]
  expect(await berth.ask('fetch', `app://berth/${script}`)).toMatchObject({ status: 200 })
  const refused = ['app://other/index.html', 'app://berth/../package.json', 'app://berth/%2e%2e/main/main.js']
  for (const url of refused) expect((await berth.ask('fetch', url))?.status, url).not.toBe(200)
  expect(await berth.ask('fetch', 'app://berth/index.html', 'POST')).toMatchObject({ status: 405 })
})

test('it goes nowhere, opens nothing, lets nothing in and is granted nothing but the clipboard', async () => {
  await start()
  const kinds = ['will-navigate', 'will-redirect'] as const
  for (const kind of kinds) {
    for (const url of ['https://example.com/', 'file:///etc/passwd', 'app://other/', 'javascript:alert(1)'])
      expect(await berth.ask('navigates', kind, url), url).toBe(false)
    expect(await berth.ask('navigates', kind, 'app://berth/index.html')).toBe(true)
  }
  expect(await berth.ask('navigates', 'will-frame-navigate', 'app://berth/index.html', false)).toBe(false)
  expect(await berth.ask('attachesWebview')).toBe(false)
  for (const url of ['file:///etc/passwd', 'app://berth/index.html', 'javascript:alert(1)'])
    expect(await berth.ask('opensWindow', url)).toEqual({ action: 'deny' })
  for (const permission of ['media', 'geolocation', 'notifications', 'openExternal', 'fileSystem'])
    expect(await berth.ask('grants', permission, 'app://berth/'), permission).toEqual({
      request: false,
      check: false,
      device: false,
    })
  expect(await berth.ask('grants', 'clipboard-read', 'https://example.com/')).toMatchObject({
    request: false,
  })
  expect(await berth.ask('grants', 'clipboard-sanitized-write', 'app://berth/')).toMatchObject({
    request: true,
  })
})

test('what does not come from the page’s own main frame is not heard', async () => {
  await start()
  await berth.ask('post', { kind: 'sync' }, { url: 'https://evil.example/' })
  await berth.ask('post', { kind: 'sync' }, { parent: {} })
  for (const rubbish of [null, 7, 'sync', [], {}, { kind: 'command' }, { kind: 'data', stream: 1 }])
    await berth.ask('post', rubbish)
  const before = await messages()
  expect(before.filter(({ kind }) => kind === 'state')).toEqual([])
  expect((await state()).app.shell).toBe('electron')
})

test('without a tray closing the window ends Berth', async () => {
  await start()
  expect(await berth.ask('tray')).toBeUndefined()
  expect((await state()).app.tray).toBe(false)
  void berth.ask('closeWindow').catch(() => undefined)
  expect(await berth.process.ended).toBe(0)
})

test('with a tray closing hides the window; tray and second start show it again', async () => {
  await offerTray()
  await start()
  expect((await state()).app.tray).toBe(true)
  const hidden = async () => {
    await berth.ask('closeWindow')
    expect(await berth.ask('windows')).toMatchObject([{ visible: false }])
  }
  await hidden()
  await berth.ask('clickTray')
  expect(await berth.ask('windows')).toMatchObject([{ visible: true }])
  await hidden()
  await berth.ask('secondInstance')
  expect(await berth.ask('windows')).toMatchObject([{ visible: true }])
  await hidden()
  await berth.ask('clickMenu', ['Open Berth'])
  expect(await berth.ask('windows')).toMatchObject([{ visible: true }])
  await berth.ask('wake')
  void berth.ask('clickMenu', ['Quit Berth']).catch(() => undefined)
  expect(await berth.process.ended).toBe(0)
})

test('the tray’s entries rent, open, stop and start an instance, and rent it again', async () => {
  await offerTray()
  await start('--speed', '200')
  await expect.poll(async () => (await menu())[1]?.label).toMatch(/^Credit \$/)
  await berth.ask('clickMenu', ['Rent a GPU…'])
  expect((await state()).goTo?.place).toEqual({ screen: 'offers' })

  const instance = (await berth.rentOne()).id
  await expect
    .poll(async () => (await instanceEntry())?.label, { timeout: 45_000 })
    .toContain(`#${instance}: Running`)
  const name = (await instanceEntry())?.label.split(':')[0] ?? ''
  const click = (entry: string) => berth.ask('clickMenu', [name, entry])

  await berth.ask('closeWindow')
  await click('Terminal')
  expect((await state()).goTo?.place).toEqual({ screen: 'instances', instance, tab: 'terminal' })
  expect(await berth.ask('windows')).toMatchObject([{ visible: true }])
  await click('Show')
  expect((await state()).goTo?.place).toEqual({ screen: 'instances', instance })
  await click('Destroy…')
  expect((await state()).goTo?.place).toEqual({ screen: 'instances', instance, ask: 'destroy' })

  await click('Stop')
  const submenu = async () => (await instanceEntry())?.submenu?.map(({ label }) => label)
  await expect.poll(submenu, { timeout: 45_000 }).toContain('Start')
  await click('Start')
  await expect.poll(submenu, { timeout: 60_000 }).toContain('Stop')

  await command('destroyInstance', { instance })
  await expect.poll(instanceEntry, { timeout: 45_000 }).toBeUndefined()
  await berth.ask('clickMenu', ['Rent a GPU…'])
  expect((await state()).goTo?.place).toEqual({ screen: 'offers' })
  // The instance is gone, but its rental can be repeated through a dialog.
  const [again] = (await menu()).filter(({ label }) => /^Rent .* again…$/.test(label))
  await berth.ask('clickMenu', [again?.label ?? ''])
  const place = (await state()).goTo?.place
  expect(place).toEqual({ screen: 'offers', again: expect.stringMatching(/^r[0-9a-f]{16}$/) })
  const rental = place?.screen === 'offers' ? place.again : undefined
  expect(await command('findAgain', { rental })).toMatchObject({
    offer: { id: expect.any(Number) },
    request: { image: 'pytorch/pytorch', disk: 20 },
  })
}, 180_000)

test('an alert is a notification, and a click on it shows the window at its place', async () => {
  await offerTray()
  await start('--speed', '20')
  await command('changeSettings', { settings: { lowCreditDollars: 10 } })
  await command('demoEvent', { event: 'low_credit' })
  const shown = async () => (await berth.ask('notifications')).map(({ title }) => title)
  await expect.poll(shown, { timeout: 45_000 }).toEqual([expect.stringMatching(/credit/i)])
  await berth.ask('closeWindow')
  const before = (await state()).goTo?.sequence ?? 0
  await berth.ask('clickNotification', 0)
  expect((await state()).goTo?.sequence).toBeGreaterThan(before)
  expect(await berth.ask('windows')).toMatchObject([{ visible: true }])
})

test('after a reload nothing is sent until the new page joins', async () => {
  await offerTray()
  await start()
  await state()
  await berth.ask('reload')
  const before = (await messages()).length
  // A page that was still joined would get both changes before the menu shows the second.
  for (const entry of ['Pause polling for an hour', 'Resume polling']) {
    await expect.poll(async () => (await menu()).map(({ label }) => label)).toContain(entry)
    await berth.ask('clickMenu', [entry])
  }
  await expect
    .poll(async () => (await menu()).map(({ label }) => label))
    .toContain('Pause polling for an hour')
  expect((await messages()).length).toBe(before)
  expect((await state()).shown).toBe('demo')
})

test('files are chosen in a dialog of the main process, and their paths stay there', async () => {
  await start()
  await berth.ask('choose', ['/somewhere/secret folder/data.csv'])
  const chosen = await command('chooseFiles', { what: 'files' })
  expect(chosen).toEqual({ choice: expect.stringMatching(/^c[0-9a-f]{32}$/), names: ['data.csv'] })
  const into = await command('chooseFolder', {})
  expect(into).toEqual({ choice: expect.stringMatching(/^c/), name: 'data.csv' })
  expect(await berth.ask('dialogs')).toMatchObject([
    { properties: ['openFile', 'multiSelections'] },
    { properties: ['openDirectory', 'createDirectory'] },
  ])
  expect(JSON.stringify(await messages())).not.toContain('secret folder')
})

test('a notification that the desktop refuses is on the page', async () => {
  await start()
  await berth.ask('refuseNotifications')
  await berth.ask('openUrl', 'berth://nowhere')
  const titles = async () => Object.values((await state()).notices).map(({ title }) => title)
  await expect.poll(titles).toContain('A link leads nowhere')
})

test('it is called Berth, and its window has its picture where no package brings one', async () => {
  await start()
  expect((await berth.ask('told')).name).toBe('Berth')
  const [window] = await berth.ask('windows')
  expect((await readFile(String(window?.icon))).subarray(1, 4).toString()).toBe('PNG')
})

test('a start without the sandbox is noticed and said, once', async () => {
  const title = 'Berth runs without its sandbox'
  const titles = async () => (await berth.ask('notifications')).map(({ title }) => title)
  await start('--no-sandbox')
  await expect.poll(titles).toContain(title)
  expect((await state()).app.runtime).toMatch(/; no sandbox$/)
  expect(await readFile(join(berth.session.home, 'home/logs/berth.log'), 'utf8')).toContain('--no-sandbox')
  await start('--no-sandbox')
  await berth.ask('openUrl', 'berth://nowhere')
  await expect.poll(titles).toContain('A link leads nowhere')
  expect(await titles()).not.toContain(title)
})
