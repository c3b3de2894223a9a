import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts'
import { useShell } from './shell.ts'

const berth = useShell()
const { start, startAlone, offerTray, command, state, menu, ask } = berth
let sim: Simulator | undefined
afterEach(async () => {
  await sim?.close()
  sim = undefined
})

const place = async () => (await state()).goTo?.place
const told = async () => (await ask('notifications')).map(({ title }) => title)

/** Connects an account that is not the demo and rents an instance. */
async function rentForReal(): Promise<number> {
  sim = await startSimulator({ port: 0, seed: 7, speed: 200, offers: 200, calm: true })
  await command('changeSettings', { settings: { pollInterval: 2 } })
  await command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
  return (await berth.rentOne()).id
}

test('quitting while an instance costs asks first, and only Quit ends Berth', async () => {
  await offerTray()
  await start()
  const id = await rentForReal()
  const asked = () => ask('questions')
  await ask('quit')
  await expect.poll(asked).toMatchObject([
    {
      message: expect.stringMatching(/^1 instance goes on costing \$.*\/h$/),
      detail: expect.stringContaining(`#${id}: Running`),
      buttons: ['Quit', 'Keep in tray', 'Cancel'],
      enter: 'Keep in tray',
      escape: 'Cancel',
    },
  ])
  // Quitting again does not ask twice.
  await ask('quit')
  expect(await asked()).toHaveLength(1)
  await ask('answer', 'Cancel')
  expect(await ask('windows')).toMatchObject([{ visible: true }])

  await ask('clickMenu', ['Quit Berth'])
  await expect.poll(asked).toHaveLength(1)
  await ask('answer', 'Keep in tray')
  await expect.poll(() => ask('windows')).toMatchObject([{ visible: false }])
  expect((await state()).accounts).not.toEqual({})

  await ask('quit')
  await expect.poll(asked).toHaveLength(1)
  void ask('answer', 'Quit').catch(() => undefined)
  expect(await berth.process.ended).toBe(0)
}, 120_000)

test('without a tray closing asks too; SIGTERM ends Berth without a question', async () => {
  await start()
  await rentForReal()
  await ask('closeWindow')
  await expect
    .poll(() => ask('questions'))
    .toMatchObject([{ buttons: ['Quit', 'Cancel'], enter: 'Cancel', escape: 'Cancel' }])
  await ask('answer', 'Cancel')
  expect(await ask('windows')).toMatchObject([{ visible: true }])
  berth.process.process.kill('SIGTERM')
  expect(await berth.process.ended).toBe(0)
}, 120_000)

test('a start that fails shows the reason in a message box and exits with 1', async () => {
  const box = join(berth.session.home, 'box')
  const home = join(berth.session.home, 'home')
  await mkdir(home)
  await writeFile(join(home, 'logs'), 'a file where Berth wants its folder')
  berth.session.env['BERTH_DOUBLE_BOX'] = box
  await startAlone()
  expect(await berth.process.ended).toBe(1)
  expect(await readFile(box, 'utf8')).toMatch(/^Berth cannot start\nBerth could not start\. \S.*\/logs.*$/)
  // The lock is released for the next start.
  await expect(access(join(home, 'lock'))).rejects.toThrow()
})

test('a link shows the window at its place; a bad link only shows a notification', async () => {
  await offerTray()
  await start('--speed', '200')
  const { id } = await berth.rentOne()
  await ask('closeWindow')
  await ask('secondInstance', ['berth', `berth://instance/${id}/terminal`])
  expect(await place()).toEqual({ screen: 'instances', instance: id, ask: 'terminal' })
  expect(await ask('windows')).toMatchObject([{ visible: true }])
  await ask('openUrl', `berth://instance/${id}?account=demo`)
  expect(await place()).toEqual({ screen: 'instances', instance: id })
  await ask('openUrl', 'berth://offers?gpu=H100&max=2.5')
  expect(await place()).toMatchObject({
    screen: 'offers',
    search: { filter: { gpus: ['H100'], priceTo: 2.5 } },
  })

  const before = (await state()).goTo?.sequence
  for (const bad of [
    'berth://instance/1',
    `berth://instance/${id}/destroy`,
    'berth://instance/4711 --speed',
    'https://evil.example/',
  ])
    await ask('openUrl', bad)
  expect((await state()).goTo?.sequence).toBe(before)
  await expect.poll(told).toContain('A link leads nowhere')
  expect(JSON.stringify(await ask('notifications'))).not.toContain('evil')
  expect(Object.keys((await state()).accounts['demo']?.instances ?? {})).toEqual([String(id)])
}, 120_000)

test('a link that started Berth is followed after the start', async () => {
  await start('berth://settings')
  await expect.poll(place).toEqual({ screen: 'settings' })
})

test('a notification that started Berth leads to Activity if its account is unknown', async () => {
  await offerTray()
  berth.session.env['BERTH_DOUBLE_NOTICE'] = 'a00000009/4711'
  await start('--hidden')
  // That account is unknown, but Activity has the alert.
  await expect.poll(place).toEqual({ screen: 'activity' })
})

test('with --hidden Berth has a tray and no window, also after a second hidden start', async () => {
  await offerTray()
  await startAlone('--hidden')
  await expect.poll(async () => (await ask('tray'))?.menus ?? 0, { timeout: 45_000 }).toBeGreaterThan(0)
  await ask('secondInstance', ['berth', '--hidden'])
  expect(await ask('windows')).toEqual([])
  await ask('secondInstance', ['berth'])
  await expect.poll(() => ask('windows')).toMatchObject([{ visible: true }])
})

test('with closeToTray off, closing ends Berth despite the tray', async () => {
  await offerTray()
  await start()
  await command('changeSettings', { settings: { closeToTray: false } })
  void ask('closeWindow').catch(() => undefined)
  expect(await berth.process.ended).toBe(0)
})

test('the window returns to its bounds for the same screens, and only for those', async () => {
  await start()
  await ask('moveWindow', { x: 300, y: 120, width: 900, height: 640 })
  const kept = join(berth.session.home, 'home', 'window.json')
  await expect
    .poll(() => readFile(kept, 'utf8').catch(() => ''), { timeout: 45_000 })
    .toContain('"width": 900')
  await start()
  expect((await ask('windows'))[0]?.bounds).toEqual({ x: 300, y: 120, width: 900, height: 640 })
  berth.process.kill()
  // Bounds stored for other screens are not used here.
  await writeFile(kept, '{"800x600+0+0": {"x": 1, "y": 1, "width": 500, "height": 400, "maximized": false}}')
  await start()
  expect((await ask('windows'))[0]?.bounds).toMatchObject({ width: 1080, height: 720 })
})

test('starting at login writes a desktop file, and notices when the desktop disables it', async () => {
  const file = join(berth.session.home, '.config', 'autostart', 'berth.desktop')
  await start()
  expect((await state()).app.autostart).toBe(true)
  await command('changeSettings', { settings: { startAtLogin: 'tray' } })
  const entry = await readFile(file, 'utf8')
  expect(entry).toMatch(/^Exec=.*--hidden$/m)
  await writeFile(file, `${entry}Hidden=true\n`)
  await start()
  expect((await state()).settings.startAtLogin).toBe('no')
  await command('changeSettings', { settings: { startAtLogin: 'window' } })
  await command('changeSettings', { settings: { startAtLogin: 'no' } })
  await expect(access(file)).rejects.toThrow()
})

test('polling is paused and resumed from the tray; a rental during the pause still starts', async () => {
  await offerTray()
  await start('--speed', '200')
  const images = (await ask('tray'))?.images ?? 0
  await ask('clickMenu', ['Pause polling for an hour'])
  await expect.poll(async () => (await state()).pausedUntil).toBeGreaterThan(Date.now() + 3_500_000)
  expect((await ask('tray'))?.tooltip).toContain('Paused until')
  expect((await ask('tray'))?.images).toBe(images + 1)
  expect((await menu()).map(({ label }) => label)).toContainEqual(
    expect.stringMatching(/^Nothing is watched until/),
  )
  await berth.rentOne({ refresh: false })
  await ask('clickMenu', ['Resume polling'])
  await expect.poll(async () => (await state()).pausedUntil).toBeUndefined()
}, 120_000)

test('the tray’s menu and icon are set again only when their content changes', async () => {
  await offerTray()
  await start()
  await expect.poll(async () => (await menu())[1]?.label, { timeout: 45_000 }).toMatch(/^Credit \$/)
  const given = async () => {
    const { menus = 0, images = 0 } = (await ask('tray')) ?? {}
    return { menus, images }
  }
  await command('refresh', {})
  const before = await given()
  for (const theme of ['dark', 'light'] as const) {
    await command('changeSettings', { settings: { theme } })
    await command('refresh', {})
  }
  expect(await given()).toEqual(before)
  await command('demoEvent', { event: 'low_credit' })
  await expect
    .poll(given, { timeout: 45_000 })
    .toEqual({ menus: before.menus + 1, images: before.images + 1 })
})

test('the tray menu opens saved searches and triggers the demo’s events', async () => {
  await offerTray()
  await start()
  const search = {
    query: { type: 'bid', verifiedOnly: true, storage: 20, limit: 100 },
    filter: { priceTo: 2 },
  }
  await command('saveSearch', { name: 'R&D', search })
  // A single ampersand would mark the next letter as the access key.
  await ask('clickMenu', ['Saved searches', 'R&&D'])
  expect(await place()).toEqual({ screen: 'offers', search })
  await ask('clickMenu', ['Make something happen', 'The credit runs low'])
  await expect
    .poll(async () => (await state()).accounts['demo']?.credit, { timeout: 45_000 })
    .toBeLessThan(1_000_000)
  await expect.poll(async () => (await ask('tray'))?.tooltip).toContain('low credit')
})

test('entries of the application menu open their place and show the window', async () => {
  await offerTray()
  await start()
  await ask('closeWindow')
  await ask('clickApplicationMenu', ['Go', 'Hosting'])
  expect(await place()).toEqual({ screen: 'hosting' })
  expect(await ask('windows')).toMatchObject([{ visible: true }])
  await ask('clickApplicationMenu', ['Help', 'Keyboard shortcuts'])
  expect(await place()).toEqual({ screen: 'here', ask: 'shortcuts' })
})

test('a crash visible on the focused page is no notification; an event behind a window is', async () => {
  await start('--speed', '200')
  const { id } = await berth.rentOne()
  await command('reportPlace', { focused: true, screen: 'instances' })
  await command('demoEvent', { event: 'crash', instance: id })
  const instance = async () => (await state()).accounts['demo']?.instances[id]?.state
  await expect.poll(instance, { timeout: 45_000 }).toBe('crashed')
  expect((await told()).filter(title => title?.includes('crashed'))).toEqual([])
  await command('reportPlace', { focused: false, screen: 'instances' })
  await command('demoEvent', { event: 'host_offline', instance: id })
  await expect.poll(told, { timeout: 45_000 }).toContainEqual(expect.stringContaining('is offline'))
}, 120_000)
