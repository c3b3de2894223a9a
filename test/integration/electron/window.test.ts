import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useShell } from './shell.ts'

const berth = useShell()
const { start, startAlone, offerTray, ask } = berth
const soon = { timeout: 45_000 }

test('a Wayland that never calls the hidden window ready gets it shown all the same', async () => {
  berth.session.env['BERTH_DOUBLE_DESKTOP'] = 'wayland'
  await start()
})

test('a page that never finishes loading does not keep the window hidden', async () => {
  berth.session.env['BERTH_DOUBLE_DESKTOP'] = 'wayland'
  berth.session.env['BERTH_DOUBLE_LOADS'] = 'never'
  await start()
})

test('a window that comes back maximised is not shown before its page is drawn', async () => {
  const home = join(berth.session.home, 'home')
  await mkdir(home)
  const kept = { x: 10, y: 10, width: 900, height: 640, maximized: true }
  await writeFile(join(home, 'window.json'), JSON.stringify({ '1920x1080+0+0': kept }))
  await start()
  const [window] = await ask('windows')
  expect(window?.maximized).toBe(true)
  expect(window?.shownBeforeDrawn).toBe(false)
})

test('a second call brings a window that still waits for its page', async () => {
  await offerTray()
  berth.session.env['BERTH_DOUBLE_LOADS'] = 'never'
  await startAlone('--hidden')
  await expect.poll(async () => (await ask('tray'))?.menus ?? 0, soon).toBeGreaterThan(0)
  await ask('secondInstance', ['berth'])
  await ask('secondInstance', ['berth'])
  expect(await ask('windows')).toMatchObject([{ visible: true, focused: true }])
})
