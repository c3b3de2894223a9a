import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildAll } from '#build/dist.ts'
import { writeLicences } from '#build/licences.ts'
import { at } from '#build/places.ts'
import { lacks } from '#test/needs.ts'
import { type LinuxPackages, pack } from './packed.ts'

let folder: string
let linux: LinuxPackages

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-linux-'))
  await buildAll({ quiet: true, force: false })
  await writeLicences(at('dist/licences.txt'))
  const packed = await pack(folder)
  if (packed.linux === undefined) throw new Error('nothing was asked of the targets')
  linux = packed.linux
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

test('deb and rpm pass their own checks', () => {
  for (const made of [linux.deb, linux.rpm])
    expect(made).toEqual({
      name: 'berth',
      url: expect.stringMatching(/^https:/),
      maintainer: expect.stringContaining('@'),
      vendor: 'The Berth authors',
    })
})

test('an rpm accepts library names of Fedora and openSUSE', async () => {
  const { rpm } = parse(await readFile(at('electron-builder.yml'), 'utf8'))
  for (const either of ['(libXtst or libXtst6)', '(libuuid or libuuid1)', '(libsecret or libsecret-1-0)'])
    expect(rpm.depends).toContain(either)
})

describe(`the desktop entries${lacks('desktop-file-validate')}`, {
  skip: lacks('desktop-file-validate') !== '',
}, () => {
  test.each(['desktopEntry', 'imageEntry'] as const)(
    '%s is valid, finds its window and takes berth links',
    async which => {
      const entry = linux[which]
      expect(entry).toContain('\nStartupWMClass=berth\n')
      expect(entry).toContain('\nMimeType=x-scheme-handler/berth;\n')
      const file = join(folder, 'berth.desktop')
      await writeFile(file, entry)
      const { status, stdout } = spawnSync('desktop-file-validate', [file], { encoding: 'utf8' })
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
      await writeFile(file, entry.replace('Type=Application', 'Type=Boat'))
      expect(spawnSync('desktop-file-validate', [file]).status, 'one that is wrong').not.toBe(0)
    },
  )
})

test('installed packages and AppImages start in the sandbox', () => {
  expect(linux.desktopEntry).toContain('\nExec=/opt/Berth/berth %U\n')
  expect(linux.imageEntry).toContain('\nExec=AppRun %U\n')
})

test.each([
  ['where the system allows a sandbox', 0, ''],
  ['where it allows none', 1, '--no-sandbox '],
])('an AppImage starts Berth with its arguments, %s', async (_where, status, first) => {
  const appDir = join(folder, `image-${status}`)
  await mkdir(join(appDir, 'usr/lib'), { recursive: true })
  const write = async (name: string, script: string) => {
    await writeFile(join(appDir, name), script)
    await chmod(join(appDir, name), 0o755)
  }
  await write('AppRun', linux.appRun)
  await write('berth', '#!/bin/sh\necho "$@"\n')
  // Berth's check for user namespaces calls `unshare`.
  await write('unshare', `#!/bin/sh\nexit ${status}\n`)
  const { stdout } = spawnSync(join(appDir, 'AppRun'), ['--hidden', 'berth://offers'], {
    env: { PATH: process.env['PATH'], APPDIR: appDir },
    encoding: 'utf8',
  })
  expect(stdout).toBe(`${first}--hidden berth://offers\n`)
})
