import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { childEnv, systemPrograms } from '#platform/programs.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-programs-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

test('Windows Terminal is found though stat fails on its alias', async () => {
  const path = await program('wt.exe', '')
  // stat of an app-execution alias fails with EACCES, though it can be started.
  vi.resetModules()
  vi.doMock('node:fs/promises', async original => ({
    ...(await original<typeof import('node:fs/promises')>()),
    stat: () => Promise.reject(Object.assign(new Error(), { code: 'EACCES' })),
  }))
  onTestFinished(() => {
    vi.doUnmock('node:fs/promises')
    vi.resetModules()
  })
  const { systemPrograms } = await import('#platform/programs.ts')
  expect(await systemPrograms({ PATH: folder }, 'win32').find('wt.exe')).toBe(path)
})

test('a folder is not a program', async () => {
  expect(
    await systemPrograms({ PATH: tmpdir() }, 'linux').find(folder.split('/').at(-1) ?? ''),
  ).toBeUndefined()
})

test('a program that is awaited fails with its last line of error output', async () => {
  const { launch } = systemPrograms({ PATH: folder }, 'linux')
  const failing = await program('failing', 'echo warning >&2; echo "error: not allowed (-1743)" >&2; exit 1')
  const silent = await program('silent', 'exit 3')
  await expect(launch(failing, [], { untilEnd: true })).rejects.toThrow(/^error: not allowed \(-1743\)$/)
  await expect(launch(silent, [], { untilEnd: true })).rejects.toThrow('silent')
  await launch(await program('fine', 'exit 0'), [], { untilEnd: true })
})

test('other programs don’t inherit an AppImage’s environment', () => {
  const env = {
    HOME: '/home/me',
    APPDIR: '/tmp/.mount_Berth1',
    APPIMAGE: '/home/me/Berth.AppImage',
    ARGV0: 'Berth.AppImage',
    CHROME_DESKTOP: 'berth.desktop',
    PATH: '/tmp/.mount_Berth1:/tmp/.mount_Berth1/usr/sbin:/usr/bin:/tmp/.mount_Berth10/bin',
    LD_LIBRARY_PATH: '/tmp/.mount_Berth1/usr/lib',
    XDG_DATA_DIRS: '/tmp/.mount_Berth1/usr/share/::/usr/share/gnome:/usr/share/',
    GSETTINGS_SCHEMA_DIR: '/tmp/.mount_Berth1/usr/share/glib-2.0/schemas:/opt/schemas',
  }
  expect(childEnv(env)).toEqual({
    HOME: '/home/me',
    PATH: '/usr/bin:/tmp/.mount_Berth10/bin',
    XDG_DATA_DIRS: '/usr/share/gnome:/usr/share/',
    GSETTINGS_SCHEMA_DIR: '/opt/schemas',
  })
})

test('a started program gets the cleaned environment', async () => {
  const env = childEnv({ PATH: '/usr/bin:/bin', APPDIR: '/app', LD_LIBRARY_PATH: '/app/usr/lib' })
  const { launch } = systemPrograms(env, 'linux')
  await launch(await program('tell', `env > '${folder}/env'`), [], { untilEnd: true })
  expect(await readFile(join(folder, 'env'), 'utf8')).not.toMatch(/APPDIR|LD_LIBRARY_PATH/)
})
