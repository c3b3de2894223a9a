import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execLine, linuxAutostart, withdrawLinkHandler } from '#platform/autostart.ts'
import { lacks } from '#test/needs.ts'

const run = promisify(execFile)
let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'berth-autostart-'))
})
afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 20 }))

const at = (command: string[]) => linuxAutostart({ env: {}, home, command })
const file = () => join(home, '.config/autostart/berth.desktop')
const lacking = lacks('desktop-file-validate')

describe.skipIf(lacking !== '')(`starting at login${lacking}`, () => {
  test.each([
    [['/opt/Berth/berth']],
    [['/home/me/My Apps/Berth 1.0.AppImage']],
    [['/usr/bin/electron', '/home/me/100% "mine" $HOME `id` \\ berth']],
  ])('the autostart file for %j is valid, and follows the choice', async command => {
    const autostart = at(command)
    await autostart.choose('tray')
    const { stdout, stderr } = await run('desktop-file-validate', [file()])
    expect(stdout + stderr).toBe('')
    expect(await readFile(file(), 'utf8')).toMatch(/^Exec=.* --hidden$/m)
    expect(await autostart.isOn()).toBe(true)
    await autostart.choose('window')
    expect(await readFile(file(), 'utf8')).not.toContain('--hidden')
    await autostart.choose('no')
    expect(await autostart.isOn()).toBe(false)
    await autostart.choose('no')
  })
})

test.each(['Hidden=true', 'X-GNOME-Autostart-enabled=false'])(
  'autostart that the desktop disabled by %s counts as off',
  async line => {
    const autostart = at(['/opt/Berth/berth'])
    await autostart.choose('window')
    const entry = await readFile(file(), 'utf8')
    await writeFile(file(), entry.replace('X-GNOME-Autostart-enabled=true', line))
    expect(await autostart.isOn()).toBe(false)
  },
)

test('any command survives the quoting of the Exec line', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ minLength: 1 }).filter(text => !/[\0\n\r]/.test(text)),
        { minLength: 1 },
      ),
      command => {
        expect(asDesktopsRead(execLine(command))).toEqual(command)
      },
    ),
  )
})

/** Reads an `Exec` value as the specification says: the string's escapes, then quotes, then field codes. */
function asDesktopsRead(value: string): string[] {
  const text = value.replaceAll('\\\\', '\\')
  const words = [...text.matchAll(/"((?:\\.|[^"\\])*)"|([^\s"]+)/gs)]
  return words.map(([, quoted, plain = '']) =>
    (quoted === undefined ? plain : quoted.replaceAll(/\\(.)/gs, '$1')).replaceAll('%%', '%'),
  )
}

test('leaving takes Berth out of the list of link handlers, and nothing else', async () => {
  const list = join(home, '.config/mimeapps.list')
  const others = '[Default Applications]\ntext/html=firefox.desktop\n'
  await mkdir(join(home, '.config'), { recursive: true })
  for (const [before, after] of [
    [`${others}x-scheme-handler/berth=berth.desktop\n`, others],
    [
      `${others}x-scheme-handler/berth=berth.desktop;mine.desktop;\n`,
      `${others}x-scheme-handler/berth=mine.desktop;\n`,
    ],
    [others, others],
  ] as const) {
    await writeFile(list, before)
    await withdrawLinkHandler({ env: {}, home })
    expect(await readFile(list, 'utf8')).toBe(after)
  }
})
