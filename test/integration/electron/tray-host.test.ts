import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useShell } from './shell.ts'

const berth = useShell()
const { start, startAlone, offerTray, state, ask } = berth
const soon = { timeout: 45_000 }
const hasIcon = async () => (await ask('tray')) !== undefined
const trayIs = (wanted: boolean) => expect.poll(async () => (await state()).app.tray, soon).toBe(wanted)
const told = async () => (await ask('notifications')).map(({ title }) => title)

test('a panel that comes up after Berth gets its icon, and closing hides the window from then on', async () => {
  await start()
  await trayIs(false)
  await offerTray()
  await trayIs(true)
  expect(await hasIcon()).toBe(true)
  await ask('closeWindow')
  expect(await ask('windows')).toMatchObject([{ visible: false }])
})

test('started hidden with the session, Berth waits for a late panel without its window', async () => {
  await startAlone('--hidden')
  await expect.poll(() => ask('told'), soon).toMatchObject({ hasMenu: true })
  await offerTray()
  await expect.poll(hasIcon, soon).toBe(true)
  expect(await ask('windows')).toEqual([])
})

test('a watcher without a panel, as in some sessions, is no tray until the panel comes', async () => {
  const watcher = await offerTray(false)
  await start()
  await trayIs(false)
  expect(await hasIcon()).toBe(false)
  watcher.showIcons(true)
  await trayIs(true)
})

test('a panel that restarts changes nothing; one that goes for good brings the hidden window back', async () => {
  const watcher = await offerTray()
  await start()
  await ask('closeWindow')
  await watcher.leave()
  await watcher.come()
  await trayIs(true)
  expect(await ask('windows')).toMatchObject([{ visible: false }])

  await watcher.leave()
  await trayIs(false)
  expect(await ask('windows')).toMatchObject([{ visible: true }])
  await watcher.come()
  await trayIs(true)
  expect((await ask('tray'))?.made, 'the icon finds each host by itself').toBe(1)
})

test('a desktop without a tray keeps the window, though it was to start hidden, and says so once', async () => {
  const title = 'This desktop has no tray'
  await start('--hidden')
  expect(await hasIcon()).toBe(false)
  await expect.poll(told, soon).toContain(title)
  await expect
    .poll(() => access(join(berth.session.home, 'home/told-no-tray')).then(() => true), soon)
    .toBe(true)
  await start()
  await trayIs(false)
  // A second notification about the tray would come before this one.
  await ask('openUrl', 'berth://nowhere')
  await expect.poll(told, soon).toContain('A link leads nowhere')
  expect(await told()).not.toContain(title)
})
