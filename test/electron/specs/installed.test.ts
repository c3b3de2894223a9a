import { chmod, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Berth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'
import { type Installed, install } from '../installed.ts'
import { type Publisher, startPublisher } from '../publisher.ts'

// Each test is its own installation, of the same files.
const desk = useDesk()
const soon = { timeout: 150_000 }
let installed: Installed
let publisher: Publisher
beforeAll(async () => {
  installed = await install()
  publisher = await startPublisher()
})
afterAll(async () => {
  publisher.close()
  await installed.remove()
})

const at = (path: string) => join(desk.session.home, path)
const read = (path: string) => readFile(at(path), 'utf8').catch(() => undefined)
const entry = '.local/share/applications/berth.desktop'
const icon = '.local/share/icons/hicolor/256x256/apps/berth.png'

/** Starts the installed Berth, as an AppImage of that name if one is given, and waits for its window. */
async function start(image?: string): Promise<Berth> {
  const { env } = desk.session
  env['XDG_DATA_HOME'] = at('.local/share')
  env['XDG_DATA_DIRS'] = at('system')
  if (image) Object.assign(env, { APPIMAGE: at(image), APPDIR: dirname(installed.program) })
  const berth = await Berth.start({ env, flags: ['--demo'], program: installed.program })
  desk.ends(berth)
  await expect.poll(() => berth.visible(), soon).toBe(true)
  return berth
}

test('a release has no developer tools and sandboxes its page', async () => {
  const berth = await start()
  const found = await berth.look(({ app, BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows()
    window?.webContents.openDevTools()
    return {
      packaged: app.isPackaged,
      tools: window?.webContents.isDevToolsOpened(),
      pid: window?.webContents.getOSProcessId(),
    }
  })
  expect(found).toMatchObject({ packaged: true, tools: false })
  expect(await readFile(`/proc/${found.pid}/status`, 'utf8')).toMatch(/^Seccomp:\s+2$/m)
})

test('an AppImage registers with the desktop under each new name, and unregisters', async () => {
  const first = await start('My Berth 1.AppImage')
  await expect.poll(() => read(entry), soon).toContain(`Exec="${at('My Berth 1.AppImage')}" %U\n`)
  const { code, output } = await desk.session.run('desktop-file-validate', [at(entry)])
  expect({ code, output }).toEqual({ code: 0, output: '' })
  expect((await readFile(at(icon))).subarray(1, 4).toString()).toBe('PNG')
  await first.command('changeSettings', { settings: { startAtLogin: 'tray' } })
  expect(await read('.config/autostart/berth.desktop')).toMatch(/^Exec=.*My Berth 1\.AppImage.* --hidden$/m)
  await first.stop()

  const second = await start('Berth 2.AppImage')
  await expect.poll(() => read(entry), soon).toContain('Berth 2.AppImage')
  await expect.poll(() => read('.config/autostart/berth.desktop'), soon).toContain('Berth 2.AppImage')
  await desk.write(at('.ssh/config'), 'Host mine\n')
  await second.command('changeSettings', { settings: { sshConfig: true, commandFile: true } })
  expect(await read('.ssh/config')).toContain('Include')
  expect(await read('.local/bin/berth')).toContain('Berth 2.AppImage')
  await second.command('leaveDesktop', {})
  expect(await read('.ssh/config')).toBe('Host mine\n')
  for (const path of ['.local/bin/berth', '.config/autostart/berth.desktop', entry, icon])
    expect(await read(path), path).toBeUndefined()
  expect((await second.state()).settings).toMatchObject({ startAtLogin: 'no', sshConfig: false })
})

test('berth:// links open in an AppImage on XFCE', async () => {
  const own = join(dirname(installed.program), 'berth')
  await desk.write(at('Berth.AppImage'), `#!/bin/sh\nexec '${own}' "$@"\n`)
  await chmod(at('Berth.AppImage'), 0o755)
  desk.session.env['XDG_CURRENT_DESKTOP'] = 'XFCE'
  const berth = await start('Berth.AppImage')
  const opened = async () => (await desk.session.run('gio', ['open', 'berth://settings'])).code
  await expect.poll(opened, soon).toBe(0)
  const page = await berth.page()
  await expect.poll(() => new URL(page.url()).hash, soon).toBe('#/settings')
})

test.each([
  ['a package of Berth', 'system/applications/berth.desktop'],
  ['an entry of the user’s own', entry],
])('an AppImage leaves %s unchanged', async (_what, path) => {
  await desk.write(at(path), '[Desktop Entry]\nName=Berth\n')
  const berth = await start('Berth.AppImage')
  await berth.state()
  await berth.quit()
  expect(await berth.ended).toBe(0)
  expect(await read(path)).toBe('[Desktop Entry]\nName=Berth\n')
  if (path !== entry) expect(await read(entry)).toBeUndefined()
})

test('a package without a safe update address checks for no updates', async () => {
  const first = await start()
  expect((await first.state()).update).toBeUndefined()
  await expect(first.command('checkForUpdate', {})).rejects.toMatchObject({ problem: { code: 'no_updates' } })
  await first.stop()

  await installed.updateFrom('provider: generic\nurl: http://updates.example/berth\n')
  const second = await start()
  expect((await second.state()).update).toBeUndefined()
  expect(await read('berth/logs/berth.log')).toContain('neither https nor loopback')
  expect(publisher.asked).toEqual([])
})

test('an update is downloaded and installed only when the user says so', async () => {
  // Writes a file when it is started.
  const program = `#!/bin/sh\necho 9.9.9 > ${at('started')}\n# ${'x'.repeat(300_000)}\n`
  await desk.write(at('Berth.AppImage'), 'the old one')
  await installed.updateFrom(publisher.config)
  publisher.offer('0.0.0', Buffer.from(program))
  const berth = await start('Berth.AppImage')
  const update = async () => (await berth.state()).update
  expect(await update()).toEqual({ status: 'none' })
  expect(publisher.asked, 'nothing at the start').toEqual([])
  await berth.command('checkForUpdate', {})
  expect(await update(), 'an older one').toEqual({ status: 'none', at: expect.any(Number) })
  await expect(berth.command('installUpdate', {})).rejects.toMatchObject({
    problem: { code: 'update_not_fetched' },
  })

  const page = await berth.page()
  await page.getByRole('link', { name: 'Settings' }).click()
  const step = (name: string) => page.getByRole('button', { name, exact: true })
  publisher.offer('9.9.9', Buffer.from(program), 'bm90IHRoZSBkaWdlc3Q=')
  await step('Check now').click()
  await page.getByText('Berth 9.9.9 is available.').waitFor()
  await expect(berth.command('fetchUpdate', {})).rejects.toMatchObject({ problem: { code: 'update_failed' } })
  await expect.poll(() => read('berth/logs/berth.log'), soon).toMatch(/sha512/i)

  publisher.offer('9.9.9', Buffer.from(program))
  await berth.command('checkForUpdate', {})
  await step('Download').click()
  await page.getByText('Berth 9.9.9 is ready.').waitFor()
  expect(JSON.stringify(publisher.asked), 'nothing that tells installations apart').not.toMatch(
    /[0-9a-f]{8}-[0-9a-f]{4}-/,
  )
  expect(await read('Berth.AppImage')).toBe('the old one')
  await step('Install and restart').click()
  expect(await berth.ended).toBe(0)
  await expect.poll(() => read('started'), soon).toBe('9.9.9\n')
  expect(await read('Berth.AppImage')).toContain('echo 9.9.9')
})
