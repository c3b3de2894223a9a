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

test('a further start shows and focuses a window that still waits for its page', async () => {
  await offerTray()
  berth.session.env['BERTH_DOUBLE_LOADS'] = 'never'
  await startAlone('--hidden')
  await expect.poll(async () => (await ask('tray'))?.menus ?? 0, soon).toBeGreaterThan(0)
  await ask('secondInstance', ['berth'])
  await ask('secondInstance', ['berth'])
  expect(await ask('windows')).toMatchObject([{ visible: true, focused: true }])
})

test('an instance’s details open in a window like the first, once each, and come back as large as they were', async () => {
  await start()
  const address = 'app://berth/index.html?details#/instances/4711/terminal'
  expect(await ask('opensWindow', address)).toEqual({ action: 'deny' })
  await expect.poll(async () => (await ask('windows'))[1]?.visible, soon).toBe(true)
  const [first, details] = await ask('windows')
  expect(details).toMatchObject({ url: address, focused: true, preferences: first?.preferences ?? {} })
  expect(details?.webRtcPolicy).toBe(first?.webRtcPolicy)

  // The details' page gets State over its own connection.
  await ask('post', { kind: 'sync' }, undefined, 1)
  await expect.poll(async () => JSON.stringify(await ask('sent', 1)), soon).toContain('"kind":"state"')
  expect(JSON.stringify(await ask('sent'))).not.toContain('"kind":"state"')

  await ask('opensWindow', 'app://berth/index.html?details#/instances/4711/monitor')
  for (const other of ['/offers', '/instances/4711/../../x', '/instances/1?details'])
    await ask('opensWindow', `app://berth/index.html?details#${other}`)
  expect(await ask('windows')).toHaveLength(2)

  await ask('moveWindow', { x: 40, y: 50, width: 700, height: 500 }, 1)
  await ask('closeWindow', 1)
  await expect.poll(async () => (await ask('windows')).length, soon).toBe(1)
  await ask('opensWindow', address)
  const again = { x: 40, y: 50, width: 700, height: 500 }
  await expect.poll(async () => (await ask('windows'))[1]?.bounds, soon).toEqual(again)
  expect((await ask('windows'))[0]?.bounds).toEqual(first?.bounds)
})

test('a window whose page would lose something is closed only once the user says so', async () => {
  await start()
  await ask('opensWindow', 'app://berth/index.html?details#/instances/4711/files')
  await expect.poll(async () => (await ask('windows'))[1]?.visible, soon).toBe(true)
  await ask('typeInto', 1)
  await ask('closeWindow', 1)
  await ask('closeWindow', 1)
  const [question, ...more] = await ask('questions')
  expect(question).toMatchObject({ message: 'Close this window?', enter: 'Cancel', escape: 'Cancel' })
  expect(more).toEqual([])
  await ask('answer', 'Cancel')
  await ask('closeWindow', 1)
  await ask('answer', 'Close')
  await expect.poll(async () => (await ask('windows')).length, soon).toBe(1)
})
