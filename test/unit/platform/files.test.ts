import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { FileNameError, openFiles } from '#platform/files.ts'
import { fileModes, lacks } from '#test/needs.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

let root = ''

beforeEach(() => {
  root = join(temporaryFolder(), 'home')
})

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('a written file is read back, a missing one is undefined', async () => {
  const files = openFiles(root)
  await files.write('accounts/demo/known.json', '{"a":1}')
  expect(await files.read('accounts/demo/known.json')).toBe('{"a":1}')
  expect(await files.read('nothing.json')).toBeUndefined()
  await files.delete('accounts/demo/known.json')
  expect(await files.read('accounts/demo/known.json')).toBeUndefined()
})

test.skipIf(lacks(fileModes) !== '')(
  'files and folders are private to the user under any umask',
  async () => {
    const before = process.umask(0)
    try {
      const files = openFiles(root)
      await files.write('deep/settings.json', '{}')
      await files.append('deep/log', 'line\n')
      expect(await mode(root)).toBe('700')
      expect(await mode(join(root, 'deep'))).toBe('700')
      expect(await mode(files.path('deep/settings.json'))).toBe('600')
      expect(await mode(files.path('deep/log'))).toBe('600')
    } finally {
      process.umask(before)
    }
  },
)

test.skipIf(lacks(fileModes) !== '')(
  'the folder is made private at start, a file at its next write',
  async () => {
    await mkdir(root, { mode: 0o755 })
    await writeFile(join(root, 'old.json'), '{}', { mode: 0o644 })
    const files = openFiles(root)
    await files.write('old.json', '{"new":true}')
    expect(await mode(root)).toBe('700')
    expect(await mode(join(root, 'old.json'))).toBe('600')
  },
)

test('a reader never sees half a file, and of overlapping writes the last wins', async () => {
  const files = openFiles(root)
  const text = (n: number) => JSON.stringify({ n, filler: 'x'.repeat(200_000) })
  await files.write('big.json', text(0))
  let writing = true
  const reading = (async () => {
    while (writing) JSON.parse(await readFile(files.path('big.json'), 'utf8'))
  })()
  await Promise.all(Array.from({ length: 20 }, (_, n) => files.write('big.json', text(n + 1))))
  await mkdir(join(root, 'folder'))
  await expect(files.write('folder', 'x')).rejects.toMatchObject({ code: 'EISDIR' })
  writing = false
  await reading
  expect(JSON.parse((await files.read('big.json')) ?? '').n).toBe(20)
  expect((await readdir(root)).sort()).toEqual(['big.json', 'folder'])
})

test('writes at once make the folders that all of them lack', async () => {
  const files = openFiles(root)
  for (let round = 0; round < 50; round += 1) {
    const names = Array.from({ length: 8 }, (_, each) => `${round}/accounts/a${each % 3}/file${each}.json`)
    await Promise.all(names.map(name => files.write(name, 'x')))
  }
})

test('concurrent appends are whole and in order', async () => {
  const files = openFiles(root)
  const lines = Array.from({ length: 100 }, (_, n) => `${n} ${'y'.repeat(1000)}\n`)
  await Promise.all(lines.map(line => files.append('activity.jsonl', line)))
  expect(await files.read('activity.jsonl')).toBe(lines.join(''))
})

test.each([
  '../outside',
  'a/../../outside',
  '/etc/passwd',
  'a//b',
  '',
  '.',
  '..',
  'a/./b',
  'a\\..\\b',
  'a\0b',
  'C:evil',
  'x'.repeat(200),
])('the name %j is refused', async name => {
  const files = openFiles(root)
  expect(() => files.path(name)).toThrow(FileNameError)
  await expect(files.read(name)).rejects.toThrow(FileNameError)
  await expect(files.write(name, '')).rejects.toThrow(FileNameError)
  await expect(async () => files.append(name, '')).rejects.toThrow(FileNameError)
  await expect(files.delete(name)).rejects.toThrow(FileNameError)
})

test('leftovers of killed writes are deleted at the next start, other files stay', async () => {
  const account = join(root, 'accounts', 'a0123abcd')
  await mkdir(account, { recursive: true })
  for (const folder of [root, account])
    for (const name of ['settings.json.1234567890', 'settings.json', 'notes.2024.txt'])
      await writeFile(join(folder, name), '{}')
  openFiles(root)
  expect((await readdir(root)).sort()).toEqual(['accounts', 'notes.2024.txt', 'settings.json'])
  expect((await readdir(account)).sort()).toEqual(['notes.2024.txt', 'settings.json'])
})

test('a home folder may be a symbolic link, and so may a file in it, which stays one', async () => {
  const elsewhere = join(root, '..', 'elsewhere')
  await mkdir(elsewhere)
  await symlink(elsewhere, root)
  const files = openFiles(root)
  await files.write('settings.json', '{}')
  expect(await readdir(elsewhere)).toEqual(['settings.json'])
  const linked = join(root, '..', 'linked.json')
  await writeFile(linked, '')
  await symlink(linked, join(root, 'linked.json'))
  await files.write('linked.json', '{"a":1}')
  expect((await lstat(join(root, 'linked.json'))).isSymbolicLink()).toBe(true)
  expect(await readFile(linked, 'utf8')).toBe('{"a":1}')
})
