import {
  chmodSync,
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
import { describe, expect, test } from 'vitest'
import { codeOf } from '#test/berth/steps.ts'
import { tree } from '../files/place.ts'
import { noSshd } from '../own-root.ts'
import { openSync, write } from './place.ts'

describe.skipIf(noSshd)(`sending a folder${noSshd}`, () => {
  test('a folder is sent with its content, times, empty folders and executable bits', async () => {
    const { here, remote, up } = await openSync()
    write(here, {
      'train.py': 'print(1)',
      'data/deep/ünï cödé \'quoted\' "x".csv': 'a,b',
      'empty.txt': '',
      [`${'long/'.repeat(30)}${'n'.repeat(150)}.txt`]: 'far down',
      'large.bin': Buffer.alloc(3_000_000, 'Berth'),
      '-rf': 'no option',
      'run.sh': '#!/bin/sh',
    })
    chmodSync(join(here, 'run.sh'), 0o755)
    mkdirSync(join(here, 'nothing/in/it'), { recursive: true })
    const result = await up()
    expect(result).toMatchObject({ files: 7, unchanged: 0, skipped: [] })
    expect(tree(remote)).toEqual(tree(here))
    expect(statSync(join(remote, 'train.py')).mtimeMs).toBe(1_700_000_000_000)
    expect(statSync(join(remote, 'run.sh')).mode & 0o777).toBe(0o755)
    expect(statSync(join(remote, 'nothing/in/it')).isDirectory()).toBe(true)
    expect(readdirSync(remote)).not.toContain('.berth-sync')
  })

  test('unchanged files are not sent again, and files only on the instance stay', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'a.py': 'one', 'b/c.py': 'two', 'b/d.py': 'three' })
    await up()
    write(remote, { 'b/result.pt': 'theirs' })
    expect(await up()).toMatchObject({ files: 0, bytes: 0, unchanged: 3 })
    write(here, { 'b/c.py': 'TWO' }, 1_700_000_001)
    expect(await up()).toMatchObject({ files: 1, bytes: 3, unchanged: 2 })
    expect(readFileSync(join(remote, 'b/c.py'), 'utf8')).toBe('TWO')
    expect(readFileSync(join(remote, 'b/result.pt'), 'utf8')).toBe('theirs')
  })

  test('a file with changed content or mode on the instance is sent again', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'a.py': 'one', 'b.sh': 'two' })
    chmodSync(join(here, 'b.sh'), 0o755)
    await up()
    write(remote, { 'a.py': 'changed' })
    chmodSync(join(remote, 'b.sh'), 0o644)
    expect(await up()).toMatchObject({ files: 2 })
    expect(readFileSync(join(remote, 'a.py'), 'utf8')).toBe('one')
    expect(statSync(join(remote, 'b.sh')).mode & 0o777).toBe(0o755)
  })

  test('a second change of a file within one second is detected', async () => {
    const { here, remote, up } = await openSync()
    const now = Math.floor(Date.now() / 1000)
    write(here, { 'a.py': 'one' }, now)
    await up()
    write(here, { 'a.py': 'two' }, now)
    await up()
    expect(readFileSync(join(remote, 'a.py'), 'utf8')).toBe('two')
  })

  test('ignore files exclude files, and .git is never sent', async () => {
    const { here, remote, up } = await openSync()
    write(here, {
      '.gitignore': '*.log\nbuild/\n!keep.log\n',
      '.berthignore': 'notes.md\n!build/\nsub/deep\n',
      '.git/config': 'x',
      'a.log': 'x',
      'keep.log': 'x',
      'build/out': 'x',
      'notes.md': 'x',
      'sub/.gitignore': '!a.log\n/only.txt\n',
      'sub/a.log': 'x',
      'sub/only.txt': 'x',
      'sub/deep/only.txt': 'x',
    })
    await up()
    expect(Object.keys(tree(remote))).toEqual(
      ['.berthignore', '.gitignore', 'build/out', 'keep.log', 'sub/.gitignore', 'sub/a.log'].sort(),
    )
  })

  test('a file that looks like a secret is sent only after a confirmation', async () => {
    const { here, remote, up } = await openSync()
    write(here, { '.env': 'TOKEN=1', 'certs/server.pem': 'x', 'a.py': 'x' })
    await up()
    expect(Object.keys(tree(remote))).toEqual(['a.py'])
    await up({ confirmed: ['.env'] })
    expect(Object.keys(tree(remote))).toEqual(['.env', 'a.py'])
  })

  test('links within the folder are sent as links, and others are skipped', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'data/a.csv': 'x' })
    symlinkSync('data/a.csv', join(here, 'inside'))
    symlinkSync(join(here, 'data'), join(here, 'absolute'))
    symlinkSync('/etc/passwd', join(here, 'outside'))
    symlinkSync('outside', join(here, 'by way of'))
    symlinkSync('../..', join(here, 'data/up'))
    const result = await up()
    expect(readlinkSync(join(remote, 'inside'))).toBe('data/a.csv')
    expect(readlinkSync(join(remote, 'absolute'))).toBe('data')
    expect(result.skipped).toEqual(
      expect.arrayContaining(['outside', 'by way of', 'data/up'].map(path => ({ path, why: 'link_out' }))),
    )
    expect(readdirSync(remote).sort()).toEqual(['absolute', 'data', 'inside'])
    expect(await up()).toMatchObject({ files: 0 })
  })

  test('a remote folder in place of a file is reported and left unchanged', async () => {
    const { here, remote, up } = await openSync()
    write(here, { model: 'file' })
    write(remote, { 'model/weights': 'theirs' })
    expect(await codeOf(up())).toBe('in_the_way')
    expect(readFileSync(join(remote, 'model/weights'), 'utf8')).toBe('theirs')
  })

  test('files staged by an earlier sync are not sent again, and stale ones are deleted', async () => {
    const { here, remote, up } = await openSync()
    write(here, { 'a.py': 'one', 'b.py': 'two' })
    write(remote, { '.berth-sync/a.py': 'one', '.berth-sync/b.py': 't' })
    expect(await up()).toMatchObject({ files: 1, unchanged: 1 })
    expect(tree(remote)).toEqual(tree(here))
    rmSync(remote, { recursive: true })
    write(remote, { '.berth-sync/a.py': 'one', '.berth-sync/other': 'x' })
    expect(await up()).toMatchObject({ files: 2 })
    expect(tree(remote)).toEqual(tree(here))
  })

  test('progress ends with all files and bytes done', async () => {
    const { here, up } = await openSync()
    write(here, { 'a.bin': Buffer.alloc(2_000_000, 1), 'b.py': 'x' })
    const told: { done: number; total: number; filesDone: number }[] = []
    await up({ onProgress: progress => told.push(progress) })
    expect(told.at(-1)).toMatchObject({ done: 2_000_001, total: 2_000_001, filesDone: 2, files: 2 })
    expect(told.length).toBeGreaterThan(2)
    utimesSync(join(here, 'b.py'), 1, 1)
  })
})
