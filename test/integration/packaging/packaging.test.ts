import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extractFile, statFile } from '@electron/asar'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import type { Configuration } from 'electron-builder'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shippedPackages, writeLicences } from '#build/licences.ts'
import { at } from '#build/places.ts'
import { type Packed, pack, reach } from './packed.ts'

let folder: string
let packed: Packed

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-packed-'))
  await writeLicences(at('dist/licences.txt'))
  packed = await pack(folder)
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

const inAsar = async (path: string) => extractFile(packed.asar, path).toString()
const isFile = (path: string) => 'size' in statFile(packed.asar, path)

test('the archive has everything imported at run time, and no other bundle', async () => {
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

test('the package has only files that the app uses', () => {
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
    'keytar',
    'safer-buffer',
    'ssh2',
    'tweetnacl',
  ])
})

test('keytar’s binary for this system is the only native module', async () => {
  const keytar = `node_modules/keytar/prebuilds/linux-${process.arch}/keytar.node`
  expect(packed.files.filter(path => path.endsWith('.node'))).toEqual([keytar])
  const native = (await readdir(`${packed.asar}.unpacked`, { recursive: true })).filter(name =>
    name.endsWith('.node'),
  )
  expect(native).toEqual([keytar])
  expect((await lstat(`${packed.asar}.unpacked/${keytar}`)).isFile()).toBe(true)
})

test('no native module needs OpenSSL', async () => {
  const wanted = (path: string) => spawnSync('nm', ['-D', '--undefined-only', path], { encoding: 'utf8' })
  const openssl = /\b(EVP|ERR|OPENSSL|CRYPTO)_\w+/
  for (const path of packed.files.filter(path => path.endsWith('.node'))) {
    const { status, stdout } = wanted(`${packed.asar}.unpacked/${path}`)
    expect(status, path).toBe(0)
    expect(openssl.exec(stdout)?.[0], path).toBeUndefined()
  }
  const left = at('node_modules/ssh2/lib/protocol/crypto/build/Release/sshcrypto.node')
  // Proves the pattern on ssh2's native module, which is left out of the package.
  if (existsSync(left)) expect(wanted(left).stdout).toMatch(openssl)
})

test('the package has the licences of all it ships, and all of them are free', async () => {
  const shipped = await shippedPackages()
  const names = shipped.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['svelte', 'ssh2', '@github/keytar', 'ws', 'tweetnacl']))
  expect(names.filter(name => name.startsWith('@fontsource-variable/'))).toHaveLength(2)
  const free =
    /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|OFL-1\.1|Unlicense|MPL-2\.0 OR Apache-2\.0|\(MPL-2\.0 OR Apache-2\.0\))$/
  expect(
    shipped.filter(({ licence }) => !free.test(licence)).map(({ name, licence }) => `${name}: ${licence}`),
  ).toEqual([])
  const text = await readFile(join(packed.folder, 'resources/licences.txt'), 'utf8')
  for (const { name, version, text: words } of shipped) {
    expect(text).toContain(`\n${name} ${version} (`)
    expect(text).toContain(words)
  }
  for (const file of ['LICENSE.electron.txt', 'LICENSES.chromium.html'])
    expect(existsSync(join(packed.folder, file)), file).toBe(true)
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
  expect(resources.toSorted()).toEqual(['app.asar', 'app.asar.unpacked', 'berth.schema.json', 'licences.txt'])
})

test('the archive stays below 12 MB, and its native modules below 1 MB', async () => {
  const sizes = await Promise.all([sizeOf(packed.asar), sizeOf(`${packed.asar}.unpacked`)])
  const [archive = 0, native = 0] = sizes.map(bytes => bytes / 1024 / 1024)
  process.stdout.write(
    `The app without Electron: ${archive.toFixed(1)} MB and ${native.toFixed(1)} MB native\n`,
  )
  expect(archive).toBeGreaterThan(1)
  expect(archive, 'without the maps of its sources').toBeLessThan(12)
  expect(native).toBeLessThan(1)
})

async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path)
  if (!found.isDirectory()) return found.size
  const entries = await readdir(path)
  const sizes = await Promise.all(entries.map(name => sizeOf(join(path, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

test.each<[string, Configuration]>([
  ['AppImage', { appImage: { nothing: true } as object }],
  ['deb', { deb: { nothing: true } as object }],
  ['rpm', { rpm: { nothing: true } as object }],
  ['nsis', { nsis: { nothing: true } as object }],
  ['dmg', { dmg: { nothing: true } as object }],
  ['mac', { mac: { hardenedRuntime: 'perhaps' } as object }],
])('electron-builder’s schema refuses an unknown option or value of %s', async (_name, wrong) => {
  await expect(pack(join(folder, 'refused'), wrong)).rejects.toThrow(/configuration/i)
})
