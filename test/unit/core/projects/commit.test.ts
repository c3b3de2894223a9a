import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commitOf } from '../../../../electron/core/projects/commit.ts'
import { systemSyncedFolders } from '../../../../electron/local/chosen/synced-folders.ts'

const id = 'a'.repeat(40)
const other = 'b'.repeat(40)

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-commit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const commit = (files: Readonly<Record<string, string>>) =>
  commitOf(systemSyncedFolders.at(folderWith(files)))

describe('the commit of a folder', () => {
  test.each([
    ['on a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${id}\n` }, 'main'],
    [
      'on a branch of several names that is packed',
      {
        '.git/HEAD': 'ref: refs/heads/feat/x\n',
        '.git/packed-refs': `# pack-refs with: peeled\n${other} refs/heads/x\n${id} refs/heads/feat/x\n^${other}\n`,
      },
      'feat/x',
    ],
    ['on none', { '.git/HEAD': `${id}\n` }, undefined],
  ])('%s is told', async (_, files, branch) => {
    expect(await commit(files)).toEqual({ id, ...(branch !== undefined && { branch }) })
  })

  test.each([
    ['without a repository', { 'train.py': '' }],
    ['without a commit yet', { '.git/HEAD': 'ref: refs/heads/main\n' }],
    ['whose repository is elsewhere', { '.git': 'gitdir: /elsewhere\n' }],
    ['whose branch leads out of the folder', { '.git/HEAD': 'ref: refs/heads/../../../out\n', out: id }],
    [
      'whose branch is no line of text',
      { '.git/HEAD': 'ref: refs/heads/a\u202eb\n', '.git/refs/heads/a\u202eb': id },
    ],
    ['whose commit is none', { '.git/HEAD': 'ref: refs/heads/m\n', '.git/refs/heads/m': 'ref: x\n' }],
  ])('%s is not told', async (_, files) => {
    expect(await commit(files)).toBeUndefined()
  })

  test('is what git says', async () => {
    const folder = folderWith({ 'train.py': 'print(1)\n' })
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: folder }).toString()
    git('init', '-q', '-b', 'trunk')
    git('add', '.')
    git('commit', '-qm', 'One')
    git('pack-refs', '--all')
    const told = { id: git('rev-parse', 'HEAD').trim(), branch: 'trunk' }
    expect(await commitOf(systemSyncedFolders.at(folder))).toEqual(told)
  })
})
