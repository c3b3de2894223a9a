import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SFTPWrapper } from 'ssh2'
import { expect, test } from 'vitest'
import { connect, openSftp, startInstance, type TestInstance } from './instance.ts'

async function session(): Promise<{ instance: TestInstance; sftp: SFTPWrapper; work: string }> {
  const instance = await startInstance()
  const sftp = await openSftp(await connect(instance))
  return { instance, sftp, work: join(instance.files, 'workspace') }
}

/** Calls a callback method of SFTP as a promise. */
function call<T = void>(
  act: (done: (error: Error | null | undefined, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) =>
    act((error, value) => (error ? reject(error) : resolve(value as T))),
  )
}

test('a 20 MB file is uploaded and downloaded unchanged with parallel requests', async () => {
  const { instance, sftp, work } = await session()
  const bytes = randomBytes(20_000_003)
  const here = join(instance.files, '..', 'here')
  writeFileSync(here, bytes)
  await promisify(
    sftp.fastPut.bind(sftp) as (a: string, b: string, done: (error?: Error | null) => void) => void,
  )(here, 'there')
  expect(readFileSync(join(work, 'there')).equals(bytes)).toBe(true)
  await call(done => sftp.fastGet('/workspace/there', `${here}.back`, done))
  expect(readFileSync(`${here}.back`).equals(bytes)).toBe(true)
})

test('files and folders are created, listed, changed, renamed and removed', async () => {
  const { sftp, work } = await session()
  expect(await call<string>(done => sftp.realpath('.', done))).toBe('/workspace')
  await call(done => sftp.mkdir('d', done))
  await call(done => sftp.writeFile('d/f', 'hello', done))
  await call(done => sftp.appendFile('d/f', ' there', done))
  expect(readFileSync(join(work, 'd/f'), 'utf8')).toBe('hello there')
  await call(done => sftp.chmod('d/f', 0o600, done))
  await call(done => sftp.utimes('d/f', 1_000_000_000, 1_000_000_001, done))
  const stats = await call<{ mode: number; size: number; mtime: number; uid: number }>(done =>
    sftp.stat('d/f', done as never),
  )
  expect(stats).toMatchObject({ size: 11, mtime: 1_000_000_001, uid: 0 })
  expect(stats.mode & 0o777).toBe(0o600)
  await call(done => sftp.rename('d/f', 'd/g', done))
  await call(done => sftp.writeFile('d/h', '', done))
  await expect(call(done => sftp.rename('d/g', 'd/h', done))).rejects.toThrow(/File exists/)
  const names = await call<{ filename: string }[]>(done => sftp.readdir('d', done as never))
  expect(names.map(entry => entry.filename).sort()).toEqual(['g', 'h'])
  await expect(call(done => sftp.rmdir('d', done))).rejects.toThrow(/not empty/)
  await call(done => sftp.unlink('d/g', done))
  await call(done => sftp.unlink('d/h', done))
  await call(done => sftp.rmdir('d', done))
  expect(existsSync(join(work, 'd'))).toBe(false)
})

test('an exclusive open of an existing file fails; a folder of 1,000 files is listed', async () => {
  const { sftp, work } = await session()
  writeFileSync(join(work, 'taken'), '')
  await expect(call(done => sftp.open('taken', 'wx', done as never))).rejects.toThrow(/File exists/)
  mkdirSync(join(work, 'many'))
  for (let index = 0; index < 1000; index += 1) writeFileSync(join(work, 'many', `file-${index}`), '')
  expect(await call<unknown[]>(done => sftp.readdir('many', done as never))).toHaveLength(1000)
})

test('no link, by anyone, leads out of the scratch folder', async () => {
  const { instance, sftp, work } = await session()
  const outside = join(instance.files, '..', 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'secret')
  symlinkSync(outside, join(work, 'host-folder'))
  symlinkSync(join(outside, 'secret'), join(work, 'host-file'))
  await call(done => sftp.symlink('../../outside', 'up', done))
  await call(done => sftp.symlink(outside, 'absolute', done))
  for (const path of [
    'host-file',
    'host-folder/secret',
    'up/secret',
    'absolute/secret',
    '../../outside/secret',
  ]) {
    await expect(
      call(done => sftp.readFile(path, 'utf8', done as never)),
      path,
    ).rejects.toThrow(/No such file/)
    await expect(
      call(done => sftp.writeFile(path, 'changed', done)),
      path,
    ).rejects.toThrow()
    await expect(
      call(done => sftp.stat(path, done as never)),
      path,
    ).rejects.toThrow(/No such file/)
  }
  await expect(call(done => sftp.readdir('host-folder', done as never))).rejects.toThrow()
  await expect(call(done => sftp.mkdir('up/new', done))).rejects.toThrow()
  await expect(call(done => sftp.rename('host-file', 'up/moved', done))).rejects.toThrow()
  await call(done => sftp.unlink('host-folder', done))
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret')
})

test('links inside the folder work, and a loop of links is an error', async () => {
  const { sftp, work } = await session()
  writeFileSync(join(work, 'real'), 'yes')
  await call(done => sftp.symlink('/workspace/real', 'link', done))
  expect(await call<string>(done => sftp.readlink('link', done))).toBe('/workspace/real')
  expect(await call(done => sftp.readFile('link', 'utf8', done as never))).toBe('yes')
  expect(await call<string>(done => sftp.realpath('link', done))).toBe('/workspace/real')
  await call(done => sftp.symlink('b', 'a', done))
  await call(done => sftp.symlink('a', 'b', done))
  await expect(call(done => sftp.stat('a', done as never))).rejects.toThrow(/symbolic links/)
})
