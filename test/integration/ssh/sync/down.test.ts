import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tree } from '../files/place.ts'
import { hasSshd } from '../sshd.ts'
import { openSync, write } from './place.ts'

describe.skipIf(!hasSshd)('bringing results home', () => {
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
    const result = await down({ paths: ['out', 'log.txt', 'missing'] })
    expect(result).toMatchObject({ files: 6, beside: [], skipped: [] })
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
    await down()
    write(remote, { 'a.pt': 'two' }, now)
    await down()
    expect(readFileSync(join(here, 'a.pt'), 'utf8')).toBe('two')
  })

  test('remote links are skipped, and local links are not written through', async () => {
    const { here, remote, down, sshd } = await openSync()
    const outside = join(sshd.folder, 'outside')
    mkdirSync(outside)
    write(remote, { 'out/a.pt': 'x', 'b.pt': 'y' })
    symlinkSync('/etc/passwd', join(remote, 'link'))
    symlinkSync(outside, join(here, 'out'))
    symlinkSync(join(outside, 'b.pt'), join(here, 'b.pt'))
    const result = await down()
    expect(result.skipped).toEqual(
      expect.arrayContaining([
        { path: 'link', why: 'link' },
        { path: 'out/a.pt', why: 'in_the_way' },
      ]),
    )
    expect(result.beside).toEqual([{ path: 'b.pt', as: 'b (from instance 4711).pt' }])
    expect(tree(outside)).toEqual({})
  })

  test('nothing is downloaded into .git or under names special to this system', async () => {
    const { here, remote, down } = await openSync()
    write(remote, {
      '.git/hooks/post-checkout': 'x',
      'sub/.GIT/config': 'x',
      'con.txt': 'x',
      'A.pt': '1',
      'a.pt': '2',
    })
    const { skipped } = await down({ system: 'win32' })
    expect(skipped.map(({ why }) => why).every(why => why === 'name')).toBe(true)
    expect(existsSync(join(here, '.git'))).toBe(false)
    expect(Object.keys(tree(here))).toHaveLength(1)
    rmSync(here, { recursive: true })
    mkdirSync(here)
    await down()
    expect(Object.keys(tree(here)).sort()).toEqual(['A.pt', 'a.pt', 'con.txt'])
  })

  test('a missing remote folder is reported as sync_refused', async () => {
    const { down } = await openSync()
    await expect(down()).rejects.toMatchObject({ problem: { code: 'sync_refused' } })
  })
})
