import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'vitest'
import { openShell } from './shell.ts'

const soon = { timeout: 45_000 }

/** A Berth of the test's own: they wait for panels at the same time. */
async function open(context: TestContext) {
  const { expect } = context
  const { session, start, startAlone, offerTray, state, ask } = await openShell(context)
  return {
    expect,
    home: session.home,
    start,
    startAlone,
    offerTray,
    ask,
    hasIcon: async () => (await ask('tray')) !== undefined,
    trayIs: (wanted: boolean) => expect.poll(async () => (await state()).app.tray, soon).toBe(wanted),
    told: async () => (await ask('notifications')).map(({ title }) => title),
  }
}

test.concurrent('a panel that comes up after Berth gets its icon, and closing hides the window from then on', async context => {
  const { start, offerTray, ask, hasIcon, trayIs, expect } = await open(context)
  await start()
  await trayIs(false)
  await offerTray()
  await trayIs(true)
  expect(await hasIcon()).toBe(true)
  await ask('closeWindow')
  expect(await ask('windows')).toMatchObject([{ visible: false }])
})

test.concurrent('started hidden with the session, Berth waits for a late panel without its window', async context => {
  const { startAlone, offerTray, ask, hasIcon, expect } = await open(context)
  await startAlone('--hidden')
  await expect.poll(() => ask('told'), soon).toMatchObject({ hasMenu: true })
  await offerTray()
  await expect.poll(hasIcon, soon).toBe(true)
  expect(await ask('windows')).toEqual([])
})

test.concurrent('a watcher without a panel, as in some sessions, is no tray until the panel comes', async context => {
  const { start, offerTray, hasIcon, trayIs, expect } = await open(context)
  const watcher = await offerTray(false)
  await start()
  await trayIs(false)
  expect(await hasIcon()).toBe(false)
  watcher.showIcons(true)
  await trayIs(true)
})

test.concurrent('a panel that restarts changes nothing; one that goes for good brings the hidden window back', async context => {
  const { start, offerTray, ask, trayIs, expect } = await open(context)
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

test.concurrent('a desktop without a tray keeps the window, though it was to start hidden, and says so once', async context => {
  const { start, ask, hasIcon, trayIs, told, home, expect } = await open(context)
  const title = 'This desktop has no tray'
  await start('--hidden')
  expect(await hasIcon()).toBe(false)
  await expect.poll(told, soon).toContain(title)
  await expect.poll(() => access(join(home, 'home/told-no-tray')).then(() => true), soon).toBe(true)
  await start()
  await trayIs(false)
  // A second notification about the tray would come before this one.
  await ask('openUrl', 'berth://nowhere')
  await expect.poll(told, soon).toContain('A link leads nowhere')
  expect(await told()).not.toContain(title)
})
