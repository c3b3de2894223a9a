import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extractAll, extractFile, statFile } from '@electron/asar'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import type { Configuration } from 'electron-builder'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at } from '../../../build/places.ts'
import { startUnderDouble } from '../../electron/start-under-double.ts'
import { lacks } from '../../needs.ts'
import { type Packed, pack, reach } from './packed.ts'

let folder: string
let packed: Packed

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-packed-'))
  const build = spawn(process.execPath, ['--import', 'tsx', at('build/build.ts'), '--if-stale'], {
    cwd: at('.'),
  })
  expect(await once(build, 'exit')).toEqual([0, null])
  packed = await pack(folder)
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

const inAsar = async (path: string) => extractFile(packed.asar, path).toString()
const isFile = (path: string) => 'size' in statFile(packed.asar, path)

test('everything that the app imports at run time is inside, and of its bundles nothing else', async () => {
  const { files, packages } = await reach(inAsar, 'dist/main/main.js')
  const mains = packed.files.filter(path => path.startsWith('dist/main/') && isFile(path))
  expect(mains.toSorted()).toEqual([...files].toSorted())
  expect([...packages].toSorted()).toEqual(['electron', 'keytar', 'ssh2'])
  for (const path of ['package.json', 'dist/preload/preload.cjs', 'dist/renderer/index.html'])
    expect(packed.files).toContain(path)
  const icons = await readdir(at('dist/icons'))
  expect(packed.files).toEqual(expect.arrayContaining(icons.map(name => `dist/icons/${name}`)))
  const page = await readdir(at('dist/renderer/assets'))
  const wanted = page.filter(name => !/\.(br|map)$/.test(name)).map(name => `dist/renderer/assets/${name}`)
  expect(wanted.filter(path => !packed.files.includes(path))).toEqual([])
})

test('nothing is inside that the app does not run', () => {
  const files = packed.files.filter(isFile)
  const strays = files.filter(
    path => !/^(dist\/(main|preload|renderer|icons)\/|node_modules\/|package\.json$)/.test(path),
  )
  expect(strays).toEqual([])
  const idle =
    /\.(map|ts|br|tsx|svelte|md|gyp|gypi|h|cc|c|o|a|mk)$|(^|\/)(test|tests|spec|fixtures?|examples?|coverage|docs)\//
  expect(files.filter(path => idle.test(path))).toEqual([])
  const packages = new Set(files.flatMap(path => /^node_modules\/([^/]+)/.exec(path)?.[1] ?? []))
  expect([...packages].toSorted()).toEqual([
    'asn1',
    'bcrypt-pbkdf',
    'cpu-features',
    'keytar',
    'safer-buffer',
    'ssh2',
    'tweetnacl',
  ])
})

test('native modules lie beside the archive as files, for this system alone', async () => {
  const native = packed.files.filter(path => path.endsWith('.node'))
  expect(native).toContain(`node_modules/keytar/prebuilds/linux-${process.arch}/keytar.node`)
  expect(native.filter(path => path.includes('prebuilds')).length).toBe(1)
  for (const path of native)
    expect((await lstat(`${packed.asar}.unpacked/${path}`)).isFile(), path).toBe(true)
})

test('the program has its fuses set', async () => {
  const wire = await getCurrentFuseWire(join(packed.folder, 'berth'))
  const [DISABLE, ENABLE] = ['0'.charCodeAt(0), '1'.charCodeAt(0)]
  expect(wire).toMatchObject({
    [FuseV1Options.RunAsNode]: DISABLE,
    [FuseV1Options.EnableCookieEncryption]: ENABLE,
    [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: DISABLE,
    [FuseV1Options.EnableNodeCliInspectArguments]: DISABLE,
    [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: ENABLE,
    [FuseV1Options.OnlyLoadAppFromAsar]: ENABLE,
    [FuseV1Options.GrantFileProtocolExtraPrivileges]: DISABLE,
  })
})

test('a package without a publish address has none to ask for updates', async () => {
  const resources = await readdir(join(packed.folder, 'resources'))
  expect(resources.toSorted()).toEqual(['app.asar', 'app.asar.unpacked'])
})

test('its size is known', async () => {
  const sizes = await Promise.all([sizeOf(packed.asar), sizeOf(`${packed.asar}.unpacked`)])
  const [archive = 0, native = 0] = sizes.map(bytes => bytes / 1024 / 1024)
  process.stdout.write(
    `The app without Electron: ${archive.toFixed(1)} MB and ${native.toFixed(1)} MB native\n`,
  )
  expect(archive + native).toBeGreaterThan(1)
})

async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path)
  if (!found.isDirectory()) return found.size
  const entries = await readdir(path)
  const sizes = await Promise.all(entries.map(name => sizeOf(join(path, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe(`the desktop entry${lacks('desktop-file-validate')}`, {
  skip: lacks('desktop-file-validate') !== '',
}, () => {
  test('is valid, finds its window and takes berth links', async () => {
    expect(packed.desktopEntry).toContain('\nExec=/opt/Berth/berth %U\n')
    expect(packed.desktopEntry).toContain('\nStartupWMClass=berth\n')
    expect(packed.desktopEntry).toContain('\nMimeType=x-scheme-handler/berth;\n')
    const file = join(folder, 'berth.desktop')
    await writeFile(file, packed.desktopEntry)
    const { status, stdout } = spawnSync('desktop-file-validate', [file], { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    await writeFile(file, packed.desktopEntry.replace('Type=Application', 'Type=Boat'))
    expect(spawnSync('desktop-file-validate', [file]).status, 'one that is wrong').not.toBe(0)
  })
})

test.each<[string, Configuration]>([
  ['AppImage', { appImage: { nothing: true } as object }],
  ['deb', { deb: { nothing: true } as object }],
  ['rpm', { rpm: { nothing: true } as object }],
  ['nsis', { nsis: { nothing: true } as object }],
  ['dmg', { dmg: { nothing: true } as object }],
  ['mac', { mac: { hardenedRuntime: 'perhaps' } as object }],
])('electron-builder’s own schema refuses an option of %s that it does not know', async (_name, wrong) => {
  await expect(pack(join(folder, 'refused'), wrong)).rejects.toThrow(/configuration/i)
})

test('the archive’s own main process starts, with nothing but what is in the package', async () => {
  const app = join(folder, 'unpacked')
  extractAll(packed.asar, app)
  const berth = await startUnderDouble(
    {
      ...process.env,
      BERTH_HOME: join(folder, 'home'),
      TMPDIR: folder,
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    },
    [],
    undefined,
    join(app, 'dist/main/main.js'),
  )
  try {
    await expect.poll(() => berth.ask('windows'), { timeout: 45_000 }).toMatchObject([{ visible: true }])
    const page = await berth.ask('fetch', 'app://berth/index.html')
    expect(page?.status).toBe(200)
    expect(Buffer.from(page?.bytes ?? []).toString()).toBe(await inAsar('dist/renderer/index.html'))
    // Its service, its SSH server and its keychain are loaded only when they are asked for: the demo asks for two.
    await berth.ask('post', { kind: 'sync' })
    await expect.poll(() => berth.ask('sent')).toContainEqual(expect.anything())
    expect(JSON.stringify(await berth.ask('sent'))).toContain('"shown":"demo"')
  } finally {
    void berth.ask('quit').catch(() => undefined)
    expect(await berth.ended).toBe(0)
  }
  await expect(readFile(join(app, 'node_modules/vite/package.json'))).rejects.toThrow('ENOENT')
})
