import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'
import { iconsOfDesktop, type TrayIcons } from '../panel.ts'
import { startXfce, type Xfce } from '../xfce.ts'

// XFCE's window manager, panel and notification service.
const desk = useDesk({ of: 'the file', panel: false, notices: false })
const soon = { timeout: 150_000 }
let icons: TrayIcons
let xfce: Xfce
let panel: ChildProcess
let berth: Berth
let disconnect: () => void = () => undefined

const run = (program: string, ...args: string[]) => xfce.run(program, ...args)

beforeAll(async () => {
  xfce = await startXfce(desk.session)
  panel = xfce.startPanel()
  const shown = iconsOfDesktop(desk.session.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')
  ;({ icons, end: disconnect } = shown)
  berth = await desk.start()
})
afterAll(() => disconnect())

const hasIcon = async () => (await icons.menu().catch(() => undefined)) !== undefined
const windows = () => run('wmctrl', '-l')

/** Closes the window by the window manager, which hears of windows later than Electron does. */
async function closeWindow(): Promise<void> {
  await expect.poll(windows, soon).toContain('Berth')
  await run('wmctrl', '-c', 'Berth')
  await berth.shown(false)
  await expect.poll(windows, soon).not.toContain('Berth')
}

test('the window manager closes the window to the tray; the panel’s menu and its icon bring it back', async () => {
  await expect.poll(hasIcon, soon).toBe(true)
  await closeWindow()
  await icons.clickMenu(['Open Berth'])
  await closeWindow()
  await icons.click()
  await berth.shown()
})

test('a hidden window’s alert shows on the desktop, and its button works', async () => {
  /** The edges of the notification on screen, at its lower right; undefined without one. */
  const corner = async () => {
    const found = await run('xdotool', 'search', '--onlyvisible', '--class', 'notifyd')
    for (const window of found.split('\n').filter(Boolean)) {
      const geometry = await run('xdotool', 'getwindowgeometry', '--shell', window)
      const [x = 0, y = 0, width = 0, height = 0] = ['X', 'Y', 'WIDTH', 'HEIGHT'].map(name =>
        Number(new RegExp(`^${name}=(\\d+)`, 'm').exec(geometry)?.[1]),
      )
      // The service has another window of a few pixels.
      if (width > 100) return { right: x + width, bottom: y + height }
    }
    return undefined
  }
  await closeWindow()
  await icons.clickMenu(['Simulate an event', 'The credit runs low'])
  await expect.poll(corner, soon).toBeDefined()
  const click = async () => {
    const { right = 0, bottom = 0 } = (await corner()) ?? {}
    if (right > 0) await run('xdotool', 'mousemove', String(right - 50), String(bottom - 28), 'click', '1')
    return berth.visible()
  }
  // Again while the notification is still being laid out.
  await expect.poll(click, { ...soon, interval: 1000 }).toBe(true)
})

test('the tray icon restores a minimised window', async () => {
  const minimised = () => berth.look(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isMinimized())
  await icons.clickMenu(['Open Berth'])
  await berth.shown()
  const line = async () => (await windows()).split('\n').find(each => each.includes('Berth'))
  await expect.poll(line, soon).toBeDefined()
  await run('xdotool', 'windowminimize', (await line())?.split(' ')[0] ?? '')
  await expect.poll(minimised, soon).toBe(true)
  await icons.click()
  await expect.poll(minimised, soon).toBe(false)
})

test('the page follows the desktop’s theme while Berth runs', async () => {
  const page = await berth.page()
  const isDark = () => page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
  for (const [theme, dark] of [
    ['Adwaita', false],
    ['HighContrastInverse', true],
    ['Adwaita', false],
  ] as const) {
    await xfce.chooseTheme(theme)
    await expect.poll(isDark, { ...soon, message: theme }).toBe(dark)
  }
})

test('a panel that restarts gets the icon again, and the hidden window stays hidden', async () => {
  await closeWindow()
  const ended = once(panel, 'exit')
  const since = performance.now()
  panel.kill('SIGKILL')
  await ended
  panel = xfce.startPanel()
  await expect.poll(hasIcon, soon).toBe(true)
  const isVisible = await berth.visible()
  // One that takes so long counts as gone, and then the window is to be seen.
  expect(isVisible && performance.now() - since < 9000).toBe(false)
  await icons.clickMenu(['Quit Berth'])
  expect(await berth.ended).toBe(0)
  expect(berth.errors).toEqual([])
})

test('XFCE’s autostart starts Berth in the tray', async () => {
  const first = await desk.start()
  await first.command('changeSettings', { settings: { startAtLogin: 'tray' } })
  await first.quit()
  expect(await first.ended).toBe(0)
  await expect.poll(hasIcon, soon).toBe(false)

  const entry = join(desk.session.home, '.config/autostart/berth.desktop')
  desk.session.start('gio', ['launch', entry])
  await expect.poll(hasIcon, soon).toBe(true)
  expect(await windows()).not.toContain('Berth')
  await icons.clickMenu(['Open Berth'])
  await expect.poll(windows, soon).toContain('Berth')
  await icons.clickMenu(['Quit Berth'])
  await expect.poll(hasIcon, soon).toBe(false)
})
