import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { codeOf } from '#test/berth/steps.ts'
import { lacks } from '#test/needs.ts'
import { tree } from '../files/place.ts'
import { noSshd } from '../own-root.ts'
import { openSync, write } from './place.ts'

/** Mounts a disk of `kilobytes` at a folder; undefined where mounting is not possible. */
function smallDisk(folder: string, kilobytes: number): { grow(kilobytes: number): void } | undefined {
  mkdirSync(folder, { recursive: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder])
  if (status !== 0) return undefined
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return {
    grow: size => void execFileSync('mount', ['-o', `remount,size=${size}k`, folder]),
  }
}

/** The programs with which results are listed and sent, each of which an image may have from BusyBox. */
const listingTools = ['find', 'stat', 'readlink', 'tar', 'sh', 'xargs']

const small = (round: string) =>
  Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f/${at}`, `${round} ${at}`]))

describe.skipIf(noSshd)(`a sync on a bad day${noSshd}`, () => {
  test('reports a disk too small on the instance before it sends anything', async context => {
    const { here, remote, up } = await openSync()
    const disk = smallDisk(remote, 1024)
    if (!disk) return context.skip('no disk can be mounted here')
    write(here, { 'a.bin': Buffer.alloc(3_000_000, 1) })
    await expect(up()).rejects.toMatchObject({
      problem: {
        code: 'disk_full',
        message: expect.stringContaining('The files take 3 MB, and 1 MB are free'),
      },
    })
    expect(readdirSync(remote)).toEqual([])
    disk.grow(8192)
    expect(await up()).toMatchObject({ files: 1 })
  })

  test('reports a disk that fills on the instance, and keeps the old files there', async context => {
    const { here, remote, up } = await openSync()
    const disk = smallDisk(remote, 400)
    if (!disk) return context.skip('no disk can be mounted here')
    write(here, small('old'))
    await up()
    const before = tree(remote)
    write(here, small('new'), 1_700_000_005)
    expect(await codeOf(up())).toBe('disk_full')
    expect(tree(join(remote, 'f'))).toEqual(
      Object.fromEntries(Object.entries(before).map(([path, hash]) => [path.slice(2), hash])),
    )
    disk.grow(4096)
    const { unchanged } = await up()
    // Files already in the staging folder were not sent again.
    expect(unchanged).toBeGreaterThan(0)
    expect(tree(remote)).toEqual(tree(here))
  })

  test('reports a disk that fills here, leaves no part files, and completes later', async context => {
    const { here, remote, down } = await openSync()
    const disk = smallDisk(here, 400)
    if (!disk) return context.skip('no disk can be mounted here')
    write(remote, { 'a.pt': 'x'.repeat(100_000), 'b.pt': 'x'.repeat(200_000), 'c.pt': 'x'.repeat(300_000) })
    expect(await codeOf(down())).toBe('disk_full_here')
    expect(readdirSync(here).filter(name => name.endsWith('.berth-part'))).toEqual([])
    disk.grow(4096)
    await down()
    expect(tree(here)).toEqual(tree(remote))
  })

  test('reports a missing local folder', async () => {
    const { here, up } = await openSync()
    rmSync(here, { recursive: true })
    expect(await codeOf(up())).toBe('no_such_folder')
  })

  test('reports a remote path that cannot be a folder', async () => {
    const { here, remote, up } = await openSync()
    write(here, { a: 'x' })
    expect(await codeOf(up({ remote: '/dev/null/x' }))).toBe('sync_refused')
    writeFileSync(remote, 'a file')
    expect(await codeOf(up())).toBe('sync_refused')
  })

  test('skips a pipe and reports it', async () => {
    const { here, up } = await openSync()
    execFileSync('mkfifo', [join(here, 'pipe')])
    write(here, { 'a.py': 'x' })
    expect(await up()).toMatchObject({ files: 1, skipped: [{ path: 'pipe', why: 'special' }] })
  })

  test('writes through a remote folder that is a link', async () => {
    const { here, remote, up, sshd } = await openSync()
    const disk = join(sshd.folder, 'disk')
    mkdirSync(disk)
    mkdirSync(remote)
    symlinkSync(disk, join(remote, 'data'))
    write(here, { 'data/a.csv': 'x' })
    await up()
    expect(Object.keys(tree(disk))).toEqual(['a.csv'])
  })

  describe.skipIf(lacks('busybox'))(`with the programs of BusyBox alone${lacks('busybox')}`, () => {
    /** All of BusyBox's programs, or some of them before this machine's. */
    async function onBusyBox(tools?: readonly string[]) {
      const programs = mkdtempSync(join(tmpdir(), 'berth-busybox-'))
      onTestFinished(() => rmSync(programs, { recursive: true, force: true }))
      if (!tools) execFileSync('busybox', ['--install', '-s', programs])
      for (const tool of tools ?? []) symlinkSync('/usr/bin/busybox', join(programs, tool))
      return openSync([`SetEnv PATH=${programs}${tools ? `:${process.env['PATH']}` : ''}`])
    }

    test('sends a folder and brings results back', async () => {
      const { here, remote, up, down } = await onBusyBox()
      write(here, { 'a.py': 'one', "b c/'d'.sh": 'two', 'b c/e': '' })
      chmodSync(join(here, "b c/'d'.sh"), 0o755)
      symlinkSync('a.py', join(here, 'link'))
      expect(await up()).toMatchObject({ files: 4 })
      expect(tree(remote)).toEqual(tree(here))
      expect(statSync(join(remote, "b c/'d'.sh")).mode & 0o777).toBe(0o755)
      write(here, { 'a.py': 'three' }, 1_700_000_005)
      expect(await up()).toMatchObject({ unchanged: 2 })
      write(remote, { 'out/r.pt': 'result', 'out/s t.pt': 'other' })
      chmodSync(join(remote, 'out/s t.pt'), 0o750)
      mkdirSync(join(remote, 'out/empty/deep'), { recursive: true })
      // A young one may be about to get its first file.
      utimesSync(join(remote, 'out/empty/deep'), 1_700_000_000, 1_700_000_000)
      expect(await down({ paths: ['out'] })).toMatchObject({ files: 2 })
      expect(statSync(join(here, 'out/s t.pt')).mode & 0o111).not.toBe(0)
      expect(readdirSync(join(here, 'out/empty'))).toEqual(['deep'])
      expect(tree(join(here, 'out'))).toEqual(tree(join(remote, 'out')))
    })

    test.each(['all', ...listingTools])(
      'links in results become what they lead to: BusyBox’s %s',
      async tools => {
        const { here, remote, down, sshd } = await onBusyBox(tools === 'all' ? undefined : [tools])
        const outside = join(sshd.folder, 'outside')
        write(remote, { 'out/ck/e 1.pt': 'one', 'log.txt': 'log' })
        write(outside, { 'data/b.pt': 'b' })
        for (const [path, target] of [
          ['out/ck/last.pt', 'e 1.pt'],
          ['out/best.pt', 'latest/last.pt'],
          ['out/latest', 'ck'],
          ['out/absolute.pt', join(remote, 'out/ck/e 1.pt')],
          ['out/chain.pt', 'best.pt'],
          ['out/log.txt', '../log.txt'],
          ['out/data', join(outside, 'data')],
          ['out/data.pt', 'data/b.pt'],
          ['out/lost.pt', 'nowhere'],
        ] as const)
          symlinkSync(target, join(remote, path))
        const { skipped } = await down({ paths: ['out'] })
        expect(skipped.filter(({ why }) => why !== 'link')).toEqual([
          { path: 'out/lost.pt', why: 'dangling' },
        ])
        const content = (path: string) => readFileSync(join(here, 'out', path), 'utf8')
        for (const path of ['ck/last.pt', 'best.pt', 'absolute.pt', 'chain.pt'])
          expect(content(path)).toBe('one')
        expect([content('log.txt'), content('data/b.pt'), content('data.pt')]).toEqual(['log', 'b', 'b'])
      },
    )

    test('reports names that BusyBox’s tar cannot handle', async () => {
      const { here, up } = await onBusyBox()
      write(here, { 'ünï.py': 'one' })
      expect(await codeOf(up())).toBe('no_tar')
    })
  })
})
