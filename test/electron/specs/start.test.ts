import { existsSync } from 'node:fs'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { Berth } from '../../berth/electron.ts'
import { byId, instanceView } from '../../unit/views.ts'
import { useDesk } from '../desk.ts'
import { app } from '../program.ts'

const desk = useDesk({ panel: false })
const soon = { timeout: 150_000 }

/** Starts Berth, which waits where it opens its projects until `goOn`. */
async function startHeld(...flags: string[]): Promise<{ berth: Berth; goOn(): Promise<void> }> {
  const folder = join(desk.session.home, 'held')
  const about = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'))
  await desk.write(join(folder, 'package.json'), JSON.stringify({ ...about, main: 'main.js' }))
  await desk.write(
    join(folder, 'hold.js'),
    `import files from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { open } = files
    const held = new Promise(resolve => (globalThis.goOn = resolve))
    files.open = async (path, ...how) => {
      if (String(path).endsWith('projects.json')) await held
      return open(path, ...how)
    }
    syncBuiltinESMExports()`,
  )
  const main = pathToFileURL(join(app, about.main))
  await desk.write(join(folder, 'main.js'), `import './hold.js'\nimport '${main}'`)
  const berth = await Berth.start({ env: desk.session.env, flags, app: folder })
  desk.ends(berth)
  return { berth, goOn: () => berth.act(() => Reflect.get(globalThis, 'goOn')()) }
}

test('while Berth starts its window is there with its frame, in the chosen theme', async () => {
  await desk.settings({ theme: 'dark' })
  const { berth, goOn } = await startHeld('--demo')
  await berth.shown()
  const page = await berth.page()
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByRole('heading', { name: 'Offers' }).waitFor()
  await page.getByText('Berth is starting').waitFor()
  expect(await page.evaluate(() => document.documentElement.style.colorScheme)).toBe('dark')
  await goOn()
  await page.getByText('This is the demo market.').waitFor()
  await page
    .getByRole('button', { name: /^Rent 1 ×/ })
    .first()
    .waitFor()
})

test('while Berth starts its window has the instances that were last seen', async () => {
  const id = 'a00000001'
  const instances = byId([instanceView({ id: 4711, label: 'llama' })])
  const accounts = [{ id, name: 'Work', baseUrl: 'http://127.0.0.1:9' }]
  await desk.write(join(desk.home, 'accounts.json'), JSON.stringify({ accounts }))
  const seen = JSON.stringify({ at: 1_790_000_000, spendPerHour: 0, instances })
  await desk.write(join(desk.home, 'accounts', id, 'last-seen.json'), seen)
  const { berth, goOn } = await startHeld()
  const page = await berth.page()
  const row = page.locator('tr', { hasText: 'llama' })
  await row.waitFor()
  // Its limits aren't read yet.
  expect(await row.getByRole('button', { name: 'No limit' }).count()).toBe(0)
  await goOn()
  await page
    .getByText(/API key/)
    .first()
    .waitFor()
})

test('a hidden start waits for a late panel; a second start shows the window', async () => {
  const berth = await desk.startAlone('--hidden')
  await berth.connection()
  const panel = await desk.offerPanel()
  await expect.poll(() => panel.icons.menu(), soon).toBeDefined()
  expect(await berth.windows()).toEqual([])
  expect(await berth.startAgain('--hidden')).toBe(0)
  expect(await berth.windows()).toEqual([])
  expect(await berth.startAgain()).toBe(0)
  await expect.poll(() => berth.visible(), soon).toBe(true)
})

test('without a tray, Berth says so once and quits with its window', async () => {
  const title = 'This desktop has no tray'
  const berth = await desk.start('--hidden')
  await expect.poll(desk.titles, soon).toContain(title)
  expect((await berth.state()).app.tray).toBe(false)
  await berth.close()
  expect(await berth.ended).toBe(0)
  await access(join(desk.home, 'told-no-tray'))

  const again = await desk.start('berth://nowhere')
  await expect.poll(desk.titles, soon).toContain('Berth doesn’t know this link')
  expect(desk.titles().filter(one => one === title)).toHaveLength(1)
  await again.quit()
  expect(await again.ended).toBe(0)
})

test('the icon follows the panel; losing the panel shows the window', async () => {
  const panel = await desk.offerPanel(false)
  const berth = await desk.start()
  const tray = async () => (await berth.state()).app.tray
  expect(await tray()).toBe(false)
  panel.showIcons(true)
  await expect.poll(tray, soon).toBe(true)
  await expect.poll(() => panel.icons.menu(), soon).toBeDefined()
  await berth.closeToTray()

  const before = panel.registered()
  await panel.leave()
  await panel.come()
  // The icon finds each panel itself.
  await expect.poll(() => panel.registered(), soon).toBeGreaterThan(before)
  expect(await berth.visible()).toBe(false)

  await panel.leave()
  await expect.poll(tray, soon).toBe(false)
  await expect.poll(() => berth.visible(), soon).toBe(true)
  await panel.come()
  await expect.poll(tray, soon).toBe(true)
  await expect.poll(() => panel.icons.menu(), soon).toBeDefined()
})

test('a link that started Berth is followed; with closeToTray off, closing ends it despite the tray', async () => {
  await desk.offerPanel()
  await desk.settings({ closeToTray: false })
  const berth = await desk.start('berth://settings')
  const page = await berth.page()
  await expect.poll(() => new URL(page.url()).hash, soon).toBe('#/settings')
  await berth.close()
  expect(await berth.ended).toBe(0)
})

test('a start at login is noticed to be switched off by the desktop', async () => {
  const file = join(desk.session.home, '.config/autostart/berth.desktop')
  const first = await desk.start()
  await first.command('changeSettings', { settings: { startAtLogin: 'tray' } })
  const entry = await readFile(file, 'utf8')
  expect(entry).toMatch(/^Exec=.*--hidden$/m)
  await first.stop()
  await writeFile(file, `${entry}Hidden=true\n`)
  const second = await desk.start()
  expect((await second.state()).settings.startAtLogin).toBe('no')
})

test('a start without the sandbox is reported once', async () => {
  const title = 'Berth runs without its sandbox'
  const first = await desk.start('--no-sandbox')
  await expect.poll(desk.titles, soon).toContain(title)
  expect((await first.state()).app.runtime).toMatch(/; no sandbox$/)
  await first.stop()
  const second = await desk.start('--no-sandbox', 'berth://nowhere')
  await expect.poll(desk.titles, soon).toContain('Berth doesn’t know this link')
  expect(desk.titles().filter(one => one === title)).toHaveLength(1)
  await second.stop()
})

test('a window returns to its place, maximised only once drawn', async () => {
  const place = { x: 100, y: 20, width: 900, height: 640 }
  const file = join(desk.home, 'window.json')
  const first = await desk.start()
  // Again and again, since a window that the display has not mapped yet takes the size alone, but is taken to be there:
  // only from elsewhere it is moved anew.
  const placed = async () => {
    await first.look(({ BrowserWindow }, place) => {
      const [window] = BrowserWindow.getAllWindows()
      window?.setBounds({ ...place, x: place.x + 1 })
      window?.setBounds(place)
    }, place)
    return readFile(file, 'utf8').catch(() => '')
  }
  await expect.poll(placed, soon).toMatch(/"x": 100,\s+"y": 20,\s+"width": 900/)
  await first.stop()
  const second = await desk.start()
  await expect.poll(async () => (await second.windows())[0]?.bounds, soon).toEqual(place)
  await second.stop()

  const [screens = ''] = Object.keys(JSON.parse(await readFile(file, 'utf8')))
  await desk.write(file, JSON.stringify({ [screens]: { ...place, maximized: true } }))
  await desk.offerPanel()
  const third = await desk.startAlone('--hidden')
  await expect.poll(() => desk.panel.icons.menu().catch(() => undefined), soon).toBeDefined()
  // Chromium shows a window that it maximises. Only a page that takes longer than Berth waits may be seen undrawn.
  await third.look(({ app }) => {
    app.once('browser-window-created', (_event, window) => {
      const opened = performance.now()
      let isDrawn = false
      window.once('ready-to-show', () => (isDrawn = true))
      window.webContents.once('did-finish-load', () => (isDrawn = true))
      const shown = () => ({ isDrawn, after: performance.now() - opened })
      window.once('show', () => Object.assign(globalThis, { berthShown: shown() }))
    })
  })
  await desk.panel.icons.click()
  await third.shown()
  const shown = await third.look(() => Reflect.get(globalThis, 'berthShown'))
  expect(shown).toSatisfy(({ isDrawn, after }) => isDrawn || after >= 2000)
  await third.stop()
  await desk.write(file, JSON.stringify({ '800x600+0+0': { ...place, maximized: false } }))
  const fourth = await desk.start()
  await expect
    .poll(async () => (await fourth.windows())[0]?.bounds, soon)
    .toMatchObject({ width: 1120, height: 740 })
})

test('a window shows even if its page never draws', async () => {
  await desk.offerPanel()
  const berth = await desk.startAlone('--hidden')
  await expect.poll(() => desk.panel.icons.menu().catch(() => undefined), soon).toBeDefined()
  await berth.look(({ protocol }) => {
    protocol.unhandle('app')
    protocol.handle('app', () => new Promise(() => undefined))
  })
  await desk.panel.icons.click()
  await berth.shown()
})

test('the page shows notifications that the desktop can’t', async () => {
  desk.notices.end()
  const berth = await desk.start('berth://nowhere')
  const titles = async () => Object.values((await berth.state()).notices).map(({ title }) => title)
  await expect.poll(titles, soon).toContain('Berth doesn’t know this link')
})

test.skipIf(['/dev/dri', '/dev/nvidiactl'].some(existsSync))(
  'without a GPU, Berth starts with software rendering',
  async () => {
    const berth = await desk.start()
    const pid = await berth.look(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0]?.webContents.getOSProcessId(),
    )
    // Chromium says it to the page's process only where it knows it by then.
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain('--disable-gpu-compositing')
  },
)
