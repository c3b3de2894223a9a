import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useShell } from './shell.ts'

const berth = useShell()
const { start, command, ask } = berth
const at = (path: string) => join(berth.session.home, path)
const entry = '.local/share/applications/berth.desktop'
const read = (path: string) => readFile(at(path), 'utf8').catch(() => undefined)

/** From here on, Berth starts as an AppImage of that name, with the environment AppRun sets. */
async function isImage(name: string): Promise<void> {
  await mkdir(at('resources'), { recursive: true })
  const mounted = at('.mount_Berth')
  Object.assign(berth.session.env, {
    BERTH_DOUBLE_RESOURCES: at('resources'),
    APPIMAGE: at(name),
    APPDIR: mounted,
    XDG_DATA_HOME: at('.local/share'),
    XDG_DATA_DIRS: `${mounted}/usr/share/:${at('system')}`,
  })
}

test('starting at login follows an AppImage whose name changes with an update', async () => {
  await isImage('Berth-1.AppImage')
  await start()
  await command('changeSettings', { settings: { startAtLogin: 'tray' } })
  expect(await read('.config/autostart/berth.desktop')).toMatch(/^Exec=.*Berth-1\.AppImage --hidden$/m)
  await isImage('Berth-2.AppImage')
  await start()
  expect(await read('.config/autostart/berth.desktop')).toMatch(/^Exec=.*Berth-2\.AppImage --hidden$/m)
  await isImage('Berth-3.AppImage')
  await command('changeSettings', { settings: { startAtLogin: 'no' } })
  await start()
  expect(await read('.config/autostart/berth.desktop')).toBeUndefined()
})

test('an AppImage makes itself known to the desktop, and its links lead to it', async () => {
  await isImage('My Berth 1.AppImage')
  await start()
  await expect.poll(async () => (await ask('told')).protocols).toEqual(['berth'])
  expect(await read(entry)).toContain(`Exec="${at('My Berth 1.AppImage')}" %U\n`)
  const { code, output } = await berth.session.run('desktop-file-validate', [at(entry)])
  expect({ code, output }).toEqual({ code: 0, output: '' })
  const icon = await readFile(at('.local/share/icons/hicolor/256x256/apps/berth.png'))
  expect(icon.subarray(1, 4).toString()).toBe('PNG')

  await isImage('Berth 2.AppImage')
  await start()
  await expect.poll(() => read(entry)).toContain('Berth 2.AppImage')
})

test.each([
  ['a package of Berth', 'system/applications/berth.desktop'],
  ['an entry of the user’s own', entry],
])('%s is left as it is by an AppImage', async (_what, path) => {
  await isImage('Berth.AppImage')
  await mkdir(join(at(path), '..'), { recursive: true })
  await writeFile(at(path), '[Desktop Entry]\nName=Berth\n')
  await start()
  await expect.poll(async () => (await ask('told')).protocols).toEqual(['berth'])
  expect(await read(path)).toBe('[Desktop Entry]\nName=Berth\n')
  if (path !== entry) expect(await read(entry)).toBeUndefined()
})

test('cleaning up before it is uninstalled takes back all that lies outside of its folder', async () => {
  await isImage('Berth.AppImage')
  await start()
  await expect.poll(async () => (await ask('told')).protocols).toEqual(['berth'])
  await mkdir(at('.ssh'), { recursive: true })
  await writeFile(at('.ssh/config'), 'Host mine\n')
  await command('changeSettings', { settings: { startAtLogin: 'tray', sshConfig: true, commandFile: true } })
  expect(await read('.ssh/config')).toContain('Include')
  expect(await read('.local/bin/berth')).toContain('Berth.AppImage')
  await command('leaveDesktop', {})
  expect(await read('.ssh/config')).toBe('Host mine\n')
  expect(await read('.local/bin/berth')).toBeUndefined()
  expect(await read('.config/autostart/berth.desktop')).toBeUndefined()
  expect(await read(entry)).toBeUndefined()
  expect(await read('.local/share/icons/hicolor/256x256/apps/berth.png')).toBeUndefined()
  expect((await ask('told')).protocols).toEqual([])
  expect((await berth.state()).settings).toMatchObject({ startAtLogin: 'no', sshConfig: false })
})
