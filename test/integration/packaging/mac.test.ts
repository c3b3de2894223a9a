import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeUniversalApp } from '@electron/universal'
import { Arch, type MacConfiguration } from 'electron-builder'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { drawAppIcons } from '#build/app-icons.ts'
import { buildAll } from '#build/dist.ts'
import { writeLicences } from '#build/licences.ts'
import { at } from '#build/places.ts'
import { contents, packForMac } from './packed.ts'

let folder: string
let mac: MacConfiguration
const app = () => join(folder, 'Berth.app')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-mac-'))
  mac = parse(await readFile(at('electron-builder.yml'), 'utf8')).mac
  await buildAll({ quiet: true, force: false })
  await drawAppIcons(at('dist/app-icons'))
  await writeLicences(at('dist/licences.txt'))
  const x64AppPath = await packForMac(folder, Arch.x64)
  const arm64AppPath = await packForMac(folder, Arch.arm64)
  const { singleArchFiles, x64ArchFiles, mergeASARs } = mac
  const rules = { ...(singleArchFiles && { singleArchFiles }), ...(x64ArchFiles && { x64ArchFiles }) }
  await onMac(() =>
    makeUniversalApp({
      x64AppPath,
      arm64AppPath,
      outAppPath: app(),
      mergeASARs: mergeASARs ?? true,
      ...rules,
    }),
  )
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

/** Pretends to be a Mac, which the call checks but does not need while lipo has no file to join. */
async function onMac(work: () => Promise<void>): Promise<void> {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  await work().finally(() => Object.defineProperty(process, 'platform', { value: platform }))
}

/** A property list as an object, read by a parser that is not electron-builder's. */
async function plist(path: string): Promise<Record<string, unknown>> {
  const script = 'import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],"rb"))))'
  const { stdout } = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' })
  return JSON.parse(stdout)
}

test('both Mac architectures merge, with keytar’s binary for each', async () => {
  const resources = join(app(), 'Contents/Resources')
  const native = contents(resources).files.filter(path => path.endsWith('.node'))
  const both = ['arm64', 'x64'].map(arch => `node_modules/keytar/prebuilds/darwin-${arch}/keytar.node`)
  expect(native.toSorted()).toEqual(both)
  const unpacked = await readdir(join(resources, 'app.asar.unpacked'), { recursive: true })
  expect(unpacked.filter(name => name.endsWith('.node')).toSorted()).toEqual(both)
})

test('the app and its helpers have only the entitlements they need', async () => {
  const own = await plist(at(String(mac.entitlements)))
  const helpers = await plist(at(String(mac.entitlementsInherit)))
  expect(helpers).toEqual({ 'com.apple.security.cs.allow-jit': true })
  const terminals = await readFile(at('electron/ssh/shell/system-terminal.ts'), 'utf8')
  const tellsOthers = terminals.includes("program: 'osascript'")
  expect(own).toEqual({
    ...helpers,
    ...(tellsOthers && { 'com.apple.security.automation.apple-events': true }),
  })
  const info = await plist(join(app(), 'Contents/Info.plist'))
  expect(Boolean(info['NSAppleEventsUsageDescription']), 'what macOS says when it asks the user').toBe(
    tellsOthers,
  )
})

test('Info.plist has the app’s name and identifier and the berth: scheme', async () => {
  const info = await plist(join(app(), 'Contents/Info.plist'))
  expect(info).toMatchObject({
    CFBundleIdentifier: 'app.berth.Berth',
    CFBundleName: 'Berth',
    CFBundleURLTypes: [{ CFBundleURLSchemes: ['berth'] }],
  })
})
