import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { codeOf } from '#test/berth/steps.ts'
import { tree } from '../files/place.ts'
import { noSshd } from '../own-root.ts'
import { openSync, write } from './place.ts'

describe.skipIf(noSshd)(`downloading results${noSshd}`, () => {
  test('the named paths are downloaded with content and times, and nothing else', async () => {
    const { here, remote, down } = await openSync()
    write(remote, {
      'out/model.pt': Buffer.alloc(3_000_000, 'Berth'),
      "out/deep/ünï cödé 'quoted'.csv": 'a,b',
      'out/empty': '',
      [`out/${'long/'.repeat(30)}${'n'.repeat(150)}.txt`]: 'far down',
      'out/-rf': 'no option',
      'train.py': 'not asked for',
      'log.txt': 'asked for',
    })
    chmodSync(join(remote, 'log.txt'), 0o6777)
    mkdirSync(join(remote, 'out/none/at all'), { recursive: true })
    mkdirSync(join(remote, 'out/none/.git'), { recursive: true })
    utimesSync(join(remote, 'out/none/at all'), 1_700_000_000, 1_700_000_000)
    // Its first file may only be to come, and an empty one here would be the newest checkpoint.
    mkdirSync(join(remote, 'out/checkpoint-50'))
    const result = await down({ paths: ['out', 'log.txt', 'missing'] })
    expect(result).toMatchObject({
      files: 6,
      beside: [],
      skipped: [{ path: 'out/none/.git', why: 'repository' }],
    })
    const mode = (path: string) => statSync(join(here, path)).mode & 0o7777
    expect([mode('log.txt'), mode('out/model.pt')]).toEqual([0o755, 0o644])
    expect(readdirSync(join(here, 'out/none'))).toEqual(['at all'])
    expect(existsSync(join(here, 'out/checkpoint-50'))).toBe(false)
    const { 'train.py': _, ...expected } = tree(remote)
    expect(tree(here)).toEqual(expected)
    expect(statSync(join(here, 'out/model.pt')).mtimeMs).toBe(1_700_000_000_000)
    expect(await down({ paths: ['out', 'log.txt'] })).toMatchObject({ files: 0, unchanged: 6 })
  })

  test('a file changed on the instance replaces the earlier download', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'a.pt': 'one', 'b.pt': 'same' })
    await down()
    write(remote, { 'a.pt': 'two' }, 1_700_000_001)
    expect(await down()).toMatchObject({ files: 1, unchanged: 1, beside: [] })
    expect(readFileSync(join(here, 'a.pt'), 'utf8')).toBe('two')
  })

  test('a file changed here is kept, and the download is put beside it once', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'out/model.pt': 'one' })
    await down()
    write(here, { 'out/model.pt': 'mine' }, 1_700_000_005)
    expect(await down()).toMatchObject({ files: 0, beside: [] })
    write(remote, { 'out/model.pt': 'theirs' }, 1_700_000_009)
    expect(await down()).toMatchObject({
      files: 1,
      beside: [{ path: 'out/model.pt', as: 'out/model (from instance 4711).pt' }],
    })
    expect(await down()).toMatchObject({ files: 0, beside: [] })
    write(remote, { 'out/model.pt': 'newer' }, 1_700_000_010)
    expect(await down()).toMatchObject({ files: 1 })
    write(here, { 'out/model (from instance 4711).pt': 'mine, too' }, 1_700_000_011)
    write(remote, { 'out/model.pt': 'newest' }, 1_700_000_012)
    await down()
    expect(
      Object.fromEntries(Object.keys(tree(here)).map(path => [path, readFileSync(join(here, path), 'utf8')])),
    ).toEqual({
      'out/model.pt': 'mine',
      '.berth-earlier/.gitignore': '*\n',
      '.berth-earlier/out/model (from instance 4711).pt': 'theirs',
      'out/model (from instance 4711).pt': 'mine, too',
      'out/model (from instance 4711) (2).pt': 'newest',
    })
  })

  test('a file that Berth never downloaded is not replaced', async () => {
    const { here, remote, up, down } = await openSync()
    write(here, { 'train.py': 'mine' })
    await up()
    write(remote, { 'train.py': 'theirs' }, 1_700_000_009)
    expect(await down()).toMatchObject({
      beside: [{ path: 'train.py', as: 'train (from instance 4711).py' }],
    })
    expect(readFileSync(join(here, 'train.py'), 'utf8')).toBe('mine')
  })

  test('a file whose folder is blocked meanwhile is reported as skipped', async () => {
    const { here, remote, folder, down } = await openSync()
    write(remote, { 'out/a.pt': 'x' })
    const blocked = {
      ...folder,
      makeFolder(path: string) {
        write(here, { [path]: 'mine' })
        return folder.makeFolder(path)
      },
    }
    expect(await down({ folder: blocked })).toMatchObject({
      files: 0,
      unchanged: 0,
      skipped: [{ path: 'out/a.pt', why: 'changed' }],
    })
  })

  test('a second change of a remote file within one second is detected', async () => {
    const { here, remote, down } = await openSync()
    const now = Math.floor(Date.now() / 1000)
    write(remote, { 'a.pt': 'one' }, now)
    const downloading = down()
    write(remote, { 'a.pt': 'two' }, now)
    await downloading
    expect(readFileSync(join(here, 'a.pt'), 'utf8')).toBe('two')
  })

  test('a link to a downloaded file is that file under the link’s name, and follows it as it moves', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'out/step-1.ckpt': 'one', 'out/step-2.ckpt': 'two, more' })
    const last = join(remote, 'out/last.ckpt')
    symlinkSync('step-1.ckpt', last)
    const copy = () => readFileSync(join(here, 'out/last.ckpt'), 'utf8')
    await down({ paths: ['out'] })
    expect(copy()).toBe('one')
    expect(lstatSync(join(here, 'out/last.ckpt')).isFile()).toBe(true)
    rmSync(last)
    symlinkSync('step-2.ckpt', last)
    await down({ paths: ['out'] })
    expect(copy()).toBe('two, more')
    write(here, { 'out/last.ckpt': 'mine' })
    rmSync(last)
    symlinkSync('step-1.ckpt', last)
    expect(await down({ paths: ['out'] })).toMatchObject({ files: 0, beside: [] })
    expect(copy()).toBe('mine')
  })

  test('follows remote links once, and never writes through local links', async () => {
    const { here, remote, down, sshd } = await openSync()
    const outside = join(sshd.folder, 'outside')
    const there = join(sshd.folder, 'checkpoints')
    mkdirSync(outside)
    write(there, { 'a.ckpt': 'checkpoint', 'sub/b': 'b' })
    write(remote, { 'out/a.pt': 'x', 'b.pt': 'y', 'runs/1/m': 'm', 'train.py': 'not asked for' })
    const link = (target: string, path: string) => symlinkSync(target, join(remote, path))
    link(join(there, 'a.ckpt'), 'last.ckpt')
    link(there, 'runs/all')
    symlinkSync('..', join(there, 'sub', 'up'))
    link('1', 'runs/latest')
    link('.', 'runs/loop')
    link('self', 'runs/self')
    link('nowhere', 'runs/lost')
    link('/', 'runs/root')
    link('..', 'runs/up')
    symlinkSync(outside, join(here, 'out'))
    symlinkSync(join(outside, 'b.pt'), join(here, 'b.pt'))
    const result = await down({ paths: ['out', 'b.pt', 'last.ckpt', 'runs'] })
    const skipped = Object.fromEntries(result.skipped.map(({ path, why }) => [path, why]))
    expect(skipped).toEqual({
      'out/a.pt': 'in_the_way',
      'runs/all/sub/up': 'link',
      'runs/latest': 'link',
      'runs/loop': 'link',
      'runs/self': 'dangling',
      'runs/lost': 'dangling',
      'runs/root': 'dangling',
      'runs/up': 'dangling',
    })
    expect(result.missing).toEqual([])
    expect(result.beside).toEqual([{ path: 'b.pt', as: 'b (from instance 4711).pt' }])
    expect(tree(outside)).toEqual({})
    expect(readFileSync(join(here, 'last.ckpt'), 'utf8')).toBe('checkpoint')
    expect(readFileSync(join(here, 'runs/all/a.ckpt'), 'utf8')).toBe('checkpoint')
    expect(readFileSync(join(here, 'runs/all/sub/b'), 'utf8')).toBe('b')
    expect(readlinkSync(join(here, 'runs/latest'))).toBe('1')
    for (const own of ['runs/loop', 'runs/all/sub/up'])
      expect(lstatSync(join(here, own), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('a link to a downloaded folder is one here, follows it as it moves, and replaces nothing else', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'out/step-1/model': 'one', 'out/step-2/model': 'two', 'out/mine/model': 'x' })
    write(here, { 'out/own/model': 'mine' })
    const link = (target: string, name: string) => {
      rmSync(join(remote, 'out', name), { force: true })
      symlinkSync(target, join(remote, 'out', name))
    }
    const last = () => readlinkSync(join(here, 'out/last'))
    link('step-1', 'last')
    link('mine', 'own')
    await down({ paths: ['out'] })
    expect(last()).toBe('step-1')
    link(join(remote, 'out/step-2'), 'last')
    await down({ paths: ['out'] })
    expect(last()).toBe('step-2')
    expect(readFileSync(join(here, 'out/own/model'), 'utf8')).toBe('mine')
  })

  test.each([
    ['a folder', 'out', { 'sub/m': 'w' }, 'out/sub/m'],
    ['a link in the project', 'logs/latest', { m: 'w' }, 'logs/latest/m'],
  ] as const)(
    'a named path that is a link to %s is downloaded with its content',
    async (_, path, files, expected) => {
      const { here, remote, down } = await openSync()
      write(join(remote, 'elsewhere'), files)
      mkdirSync(join(remote, path, '..'), { recursive: true })
      symlinkSync(join(remote, 'elsewhere'), join(remote, path))
      expect(await down({ paths: [path] })).toMatchObject({ files: 1, skipped: [], missing: [] })
      expect(Object.keys(tree(here)).filter(each => each.endsWith('m'))).toEqual([expected])
    },
  )

  test('a path without a file that has content is missing', async () => {
    const { remote, down } = await openSync()
    mkdirSync(join(remote, 'empty/deep'), { recursive: true })
    write(remote, { 'blank/.gitkeep': '', 'full/model.pt': 'x' })
    mkdirSync(join(remote, 'special'))
    execFileSync('mkfifo', [join(remote, 'special/pipe')])
    symlinkSync('full', join(remote, 'link'))
    const paths = ['empty', 'blank', 'special', 'full', 'link', 'nowhere']
    expect((await down({ paths })).missing).toEqual(['empty', 'blank', 'special', 'nowhere'])
  })

  test('a second name of a file is downloaded, too', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'a.pt': 'one' })
    linkSync(join(remote, 'a.pt'), join(remote, 'b.pt'))
    expect(await down()).toMatchObject({ files: 2, skipped: [] })
    expect(readFileSync(join(here, 'b.pt'), 'utf8')).toBe('one')
  })

  test('downloads nothing of a git repository, but a lone HEAD file', async () => {
    const { here, remote, down } = await openSync()
    write(remote, {
      'out/HEAD': 'a file like any other',
      'a/.git/hooks/post-checkout': 'x',
      'a/code.py': 'x',
      'sub/.GIT/config': 'x',
      'bare/HEAD': 'ref: refs/heads/main',
      'bare/objects/info': 'x',
      'bare/refs/heads/main': 'x',
      'bare/config': 'x',
      'later/objects/info': 'x',
      'later/refs/info': 'x',
      'tree/HEAD': 'x',
      'tree/commondir': 'x',
    })
    write(here, { 'later/HEAD': 'ref: refs/heads/main' })
    const { skipped } = await down()
    expect(skipped.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual(
      ['a/.git', 'bare', 'later', 'sub/.GIT', 'tree'].map(path => ({ path, why: 'repository' })),
    )
    expect(Object.keys(tree(here)).sort()).toEqual(['a/code.py', 'later/HEAD', 'out/HEAD'])
  })

  test.each([
    ['linux', 'n'.repeat(255), undefined],
    ['linux', '2026-09-20T12:00:00.log', undefined],
    ['darwin', '2026-09-20T12:00:00.log', undefined],
    ['win32', '2026-09-20T12:00:00.log', 'Windows does not allow its name'],
    ['win32', 'con.txt', 'Windows does not allow its name'],
    ['linux', 'a\nb', 'its name has a line break'],
    ['linux', 'a\u202eb', 'its name has invisible characters'],
    ['linux', 'git~1', 'its name is git’s own'],
  ] as const)(
    'on %s a file called %j is downloaded, or skipped with the rule',
    async (system, name, rule) => {
      const { here, remote, down } = await openSync()
      write(remote, { [`out/${name}`]: 'x' })
      const { files, skipped } = await down({ system })
      expect({ files, skipped }).toEqual(
        rule === undefined
          ? { files: 1, skipped: [] }
          : { files: 0, skipped: [{ path: `out/${name}`, why: 'name', rule }] },
      )
      expect(existsSync(join(here, 'out', name))).toBe(rule === undefined)
    },
  )

  test('a name that is not UTF-8 is skipped with the rule', async () => {
    const { remote, down } = await openSync()
    mkdirSync(remote)
    execFileSync('sh', ['-c', `printf x > "$(printf 'caf\\351.txt')"`], { cwd: remote })
    expect((await down()).skipped).toMatchObject([{ why: 'name', rule: 'its name is not UTF-8' }])
  })

  test('of names that are one here the first is downloaded', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'A.pt': '1', 'a.pt': '2' })
    expect((await down({ system: 'win32' })).skipped).toMatchObject([{ why: 'name' }])
    expect(Object.keys(tree(here))).toHaveLength(1)
    await down()
    expect(Object.keys(tree(here)).sort()).toEqual(['A.pt', 'a.pt'])
  })

  test('the last download waits for a file that was just changed, and reports one that changes on', async () => {
    const { here, remote, down } = await openSync()
    write(remote, { 'a.pt': 'whole' }, Math.floor(Date.now() / 1000))
    expect(await down({ last: true })).toMatchObject({ files: 1, unsettled: [] })
    expect(await down({ last: true })).toMatchObject({ files: 0, unsettled: [] })
    expect(statSync(join(here, 'a.pt')).mtimeMs).toBe(statSync(join(remote, 'a.pt')).mtimeMs)
    const writer = spawn('sh', ['-c', 'while :; do date >> log.txt; sleep 0.1; done'], { cwd: remote })
    onTestFinished(() => void writer.kill())
    await expect.poll(() => existsSync(join(remote, 'log.txt'))).toBe(true)
    expect((await down({ last: true })).unsettled).toEqual(['log.txt'])
  })

  test('a missing remote folder is reported as sync_refused', async () => {
    const { down } = await openSync()
    expect(await codeOf(down())).toBe('sync_refused')
  })
})
