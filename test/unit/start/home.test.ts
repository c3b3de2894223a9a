import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ensureFolder } from '#platform/ensure-folder.ts'
import { openFiles } from '#platform/files.ts'
import { berthStartFailure } from '#start/flags.ts'
import { berthHome, HomeError, makeHome } from '#start/home.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

function refusalOf(home: string): unknown {
  try {
    makeHome(home)
    return undefined
  } catch (error) {
    return error
  }
}

test('a folder that can’t be made is refused at once, in words', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  // Node's own recursion asks /proc for ever.
  const noFolders = process.platform === 'linux' ? ['/proc/berth', '/proc/berth/home'] : []
  for (const home of [file, join(file, 'home'), ...noFolders]) {
    const refused = refusalOf(home)
    expect(refused).toBeInstanceOf(HomeError)
    const { words, trace } = berthStartFailure(refused)
    expect([words, trace]).toEqual([expect.stringContaining(`files in ${home}: `), undefined])
    expect(words).toMatch(/: [a-z ]+\. Set BERTH_HOME to a folder/)
    await expect(ensureFolder(home)).rejects.toThrow()
  }
})

test('folders are made for their user alone, several of one path at once', async () => {
  const folder = temporaryFolder()
  makeHome(join(folder, 'a', 'b', 'c'))
  await Promise.all([1, 2, 3, 4].map(each => ensureFolder(join(folder, 'd', 'e', 'f', String(each)))))
  expect(refusalOf(join(folder, 'd', 'e', 'f', '4'))).toBeUndefined()
})

test('a folder is one and the same under the names of links to it, also before it is made', () => {
  const folder = realpathSync(temporaryFolder())
  mkdirSync(join(folder, 'real'))
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const homeAt = (path: string) => berthHome({ BERTH_HOME: path }, process.platform)
  expect(homeAt(join(folder, 'link'))).toBe(join(folder, 'real'))
  expect(homeAt(join(folder, 'link', 'new', 'home'))).toBe(join(folder, 'real', 'new', 'home'))
})

test('a folder that was moved away is not made again, where another Berth could take it for its own', async () => {
  const folder = temporaryFolder()
  const home = join(folder, 'home')
  const files = openFiles(home)
  await files.write('accounts/a1/runs.json', '[]')
  renameSync(home, join(folder, 'moved'))
  await expect(files.write('accounts/a1/runs.json', '[1]')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(files.append('new/output.txt', 'x')).rejects.toMatchObject({ code: 'ENOENT' })
  renameSync(join(folder, 'moved'), home)
  await files.write('accounts/a2/runs.json', '[2]')
  expect(await files.read('accounts/a1/runs.json')).toBe('[]')
})
