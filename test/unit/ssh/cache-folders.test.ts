import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keepOnVolume } from '#ssh/runs/cache-folders.ts'

const busybox = ['/usr/bin/busybox', '/bin/busybox'].find(path => existsSync(path))
const shells: [string, string[]][] = [['sh', ['sh', '-s']]]
if (busybox !== undefined) shells.push(['BusyBox', [busybox, 'sh', '-s']])

/** A machine’s disk with a home folder and a volume. */
function openDisk() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'berth-cache-')))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const bin = join(top, 'bin')
  mkdirSync(join(top, 'home'))
  mkdirSync(join(top, 'volume'))
  mkdirSync(bin)
  if (busybox !== undefined) execFileSync(busybox, ['--install', '-s', bin])
  return {
    top,
    write(path: string, text: string) {
      mkdirSync(dirname(join(top, path)), { recursive: true })
      writeFileSync(join(top, path), text)
    },
    read: (path: string) => readFileSync(join(top, path), 'utf8'),
    async keep(
      [program = '', ...args]: readonly string[],
      folders: readonly string[],
      at = join(top, 'volume'),
    ) {
      const PATH = program === 'sh' ? process.env['PATH'] : bin
      const script = await keepOnVolume(
        at,
        folders.map(folder => folder.replace(/^\//, `${top}/`)),
      )
      const env = { HOME: join(top, 'home'), PATH }
      const { stdout, status } = spawnSync(program, args, {
        input: script,
        env,
        encoding: 'utf8',
        timeout: 60_000,
      })
      return { said: stdout.trim().split('\n').at(-1), status }
    },
  }
}

/** The contents of all files, sorted. */
function contents(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap(entry => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return entry.name === 'bin' ? [] : contents(path)
      return entry.isFile() ? [readFileSync(path, 'utf8')] : []
    })
    .sort()
}

describe.each(shells)('folders kept on a volume by %s', (_, shell) => {
  test('are links to it, with the files that were in them', async () => {
    const { write, read, keep, top } = openDisk()
    write('home/.cache/hub/blobs/a', 'a')
    symlinkSync('blobs/a', join(top, 'home/.cache/hub/model'))
    expect(await keep(shell, ['~/.cache/hub', '/opt/data/x'])).toEqual({ said: 'kept yes', status: 0 })
    expect(readlinkSync(join(top, 'home/.cache/hub'))).toBe(join(top, 'volume/.berth-cache/.cache/hub'))
    expect(read('volume/.berth-cache/.cache/hub/model')).toBe('a')
    expect(await keep(shell, ['~/.cache/hub'])).toEqual({ said: 'kept yes', status: 0 })
    expect(contents(top)).toEqual(['a'])
  })

  test.each([
    ['the outer first', ['~/.cache', '~/.cache/hub']],
    ['the inner first', ['~/.cache/hub', '~/.cache']],
    ['equal', ['~/.cache/hub', '~/.cache/hub']],
  ])('lose nothing if one is within another: %s', async (_, folders) => {
    const { write, read, keep } = openDisk()
    write('home/.cache/hub/model', 'weights')
    expect(await keep(shell, ['~/.cache/hub'])).toMatchObject({ status: 0 })
    expect(await keep(shell, folders)).toEqual({ said: 'kept yes', status: 0 })
    expect(read('volume/.berth-cache/.cache/hub/model')).toBe('weights')
    expect(read('home/.cache/hub/model')).toBe('weights')
  })

  test('keep the volume’s version of a file, and the other beside the folder', async () => {
    const { write, read, keep } = openDisk()
    write('volume/.berth-cache/.cache/hub/model', 'of the volume')
    write('home/.cache/hub/model', 'of the image')
    expect(await keep(shell, ['~/.cache/hub'])).toMatchObject({ status: 0 })
    expect(read('home/.cache/hub/model')).toBe('of the volume')
    expect(read('home/.cache/hub.kept-1/model')).toBe('of the image')
  })

  test('heal a link to itself that an earlier run left on the volume', async () => {
    const { top, write, read, keep } = openDisk()
    const there = join(top, 'volume/.berth-cache/.cache/hub')
    mkdirSync(dirname(there), { recursive: true })
    symlinkSync(there, there)
    write('home/.cache/hub/model', 'weights')
    expect(await keep(shell, ['~/.cache/hub'])).toMatchObject({ status: 0 })
    expect(read('home/.cache/hub/model')).toBe('weights')
  })

  test.each([
    ['home/a', 'home/a/b/c'],
    ['home/a', 'home/a'],
    ['volume/.berth-cache/a', 'volume/.berth-cache/a/b'],
  ])('end soon where %s leads to %s', async (at, to) => {
    const { top, write, keep } = openDisk()
    write('home/other', 'of home')
    mkdirSync(dirname(join(top, at)), { recursive: true })
    symlinkSync(join(top, to), join(top, at))
    expect((await keep(shell, ['~/a'])).status).toBe(at === 'home/a' ? 1 : 0)
    expect(contents(top)).toEqual(['of home'])
  })

  test('of the same name in other places stay apart', async () => {
    const { write, read, keep, top } = openDisk()
    write('home/data/x/f', 'of home')
    expect(await keep(shell, ['~/data/x'])).toMatchObject({ status: 0 })
    expect(existsSync(join(top, 'volume/.berth-cache/data/x/f'))).toBe(true)
    write('data/x/f', 'elsewhere')
    expect(await keep(shell, ['/data/x'])).toMatchObject({ status: 0 })
    expect([read('home/data/x/f'), read('data/x/f')]).toEqual(['of home', 'elsewhere'])
  })

  test('are refused where the volume is missing, in them, or not to be written', async () => {
    const { write, keep, top } = openDisk()
    write('home/.cache/hub/model', 'weights')
    const missing = await keep(shell, ['~/.cache/hub'], join(top, 'nowhere'))
    expect(missing.said).toContain("isn't mounted")
    write('mnt/all/disk/f', 'f')
    expect((await keep(shell, ['/mnt/all'], join(top, 'mnt/all/disk'))).said).toContain('is in it')
    write('volume/.berth-cache', 'a file in the way')
    expect((await keep(shell, ['~/.cache/hub'])).status).toBe(1)
    expect(contents(top)).toEqual(['a file in the way', 'f', 'weights'])
  })

  test.each([
    ['a link there leads back', 'volume/.berth-cache/a', ['~/b/a', '~/a'], 'leads elsewhere'],
    ['a file of the volume is in the way', undefined, ['/home/a/a', '~/a'], 'in the way'],
  ])('are refused where %s', async (_, link, folders, why) => {
    const { top, write, keep } = openDisk()
    if (link === undefined) write('volume/.berth-cache/a/a', 'of the volume')
    else {
      mkdirSync(dirname(join(top, link)), { recursive: true })
      symlinkSync(join(top, 'home/b'), join(top, link))
    }
    expect(await keep(shell, folders)).toEqual({ said: expect.stringContaining(why), status: 1 })
    expect(contents(top)).toEqual(link === undefined ? ['of the volume'] : [])
  })

  test('never lose a file, whatever the lists of several runs and the links on the disk', async () => {
    const name = fc.constantFrom('a', 'b', 'c d')
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map(names => names.join('/'))
    const cache = fc
      .tuple(fc.constantFrom('~/', '/root/', '/volume/', '/home/'), path)
      .map(([start, rest]) => start + rest)
    const root = fc.constantFrom('home/', 'root/', 'volume/', 'volume/.berth-cache/')
    const entry = fc.record({
      path: fc.tuple(root, path).map(parts => parts.join('')),
      link: fc.option(fc.tuple(root, path).map(parts => parts.join(''))),
    })
    const lists = fc.array(fc.array(cache, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), lists, async (entries, runs) => {
        const { top, keep } = openDisk()
        for (const [index, { path: at, link }] of entries.entries()) {
          try {
            mkdirSync(dirname(join(top, at)), { recursive: true })
            if (link === null) writeFileSync(join(top, at), `content ${index}`, { flag: 'wx' })
            else symlinkSync(join(top, link), join(top, at))
          } catch {
            // Something else is there.
          }
        }
        const before = contents(top)
        for (const folders of runs) {
          const { status } = await keep(shell, folders)
          expect(new Set(contents(top))).toEqual(new Set(before))
          if (status !== 0) continue
          for (const folder of folders) {
            const kept = folder.replace('~', `${top}/home`).replace(/^\/(?=root|volume|home)/, `${top}/`)
            expect(realpathSync(kept).startsWith(join(top, 'volume'))).toBe(true)
            expect(lstatSync(realpathSync(kept)).isDirectory()).toBe(true)
          }
        }
        rmSync(top, { recursive: true, force: true })
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })
})
