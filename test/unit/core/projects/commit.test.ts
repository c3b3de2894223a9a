import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commitOf } from '#core/projects/commit.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const id = 'a'.repeat(40)
const other = 'b'.repeat(40)

const commit = (files: Readonly<Record<string, string>>) =>
  commitOf(systemSyncedFolders, temporaryFolder(files))

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
  ])('%s is found', async (_, files, branch) => {
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
  ])('%s is not found', async (_, files) => {
    expect(await commit(files)).toBeUndefined()
  })

  describe('with git', () => {
    function repository(files: Readonly<Record<string, string>>) {
      const folder = temporaryFolder(files)
      const git = (...words: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
          cwd: folder,
        }).toString()
      git('init', '-q', '-b', 'trunk')
      git('add', '.')
      git('commit', '-qm', 'One')
      return { folder, git, head: git('rev-parse', 'HEAD').trim() }
    }
    const none = { files: 0, named: [] }

    test('is the one that git reports', async () => {
      const { folder, git, head } = repository({ 'train.py': 'print(1)\n' })
      git('pack-refs', '--all')
      git('gc', '-q')
      expect(await commitOf(systemSyncedFolders, folder)).toEqual({
        id: head,
        branch: 'trunk',
        changed: none,
      })
    })

    test('names changed tracked files, staged or not, and no untracked ones', async () => {
      const { folder, git, head } = repository({ 'a.py': 'a', 'b.py': 'b', 'c.py': 'c', 'd.py': 'd' })
      writeFileSync(join(folder, 'a.py'), 'A')
      writeFileSync(join(folder, 'b.py'), 'B')
      git('add', 'b.py')
      rmSync(join(folder, 'c.py'))
      writeFileSync(join(folder, 'new.py'), '')
      const changed = { files: 3, named: ['a.py', 'b.py', 'c.py'] }
      expect(await commitOf(systemSyncedFolders, folder)).toEqual({ id: head, branch: 'trunk', changed })
    })

    test('of a subfolder is the repository’s, with the changes in the subfolder', async () => {
      const { folder, head } = repository({ 'train.py': '1', 'mnist/train.py': '1' })
      writeFileSync(join(folder, 'train.py'), '2')
      const inside = join(folder, 'mnist')
      expect(await commitOf(systemSyncedFolders, inside)).toEqual({
        id: head,
        branch: 'trunk',
        changed: none,
      })
      writeFileSync(join(inside, 'train.py'), '2')
      expect((await commitOf(systemSyncedFolders, inside))?.changed).toEqual({
        files: 1,
        named: ['mnist/train.py'],
      })
    })

    test('of a worktree is the worktree’s own', async () => {
      const { folder, git, head } = repository({ 'train.py': '1' })
      const tree = join(temporaryFolder({}), 'tree')
      git('worktree', 'add', '-q', '-b', 'try', tree)
      writeFileSync(join(tree, 'train.py'), '2')
      const changed = { files: 1, named: ['train.py'] }
      expect(await commitOf(systemSyncedFolders, tree)).toEqual({ id: head, branch: 'try', changed })
      expect((await commitOf(systemSyncedFolders, folder))?.changed).toEqual(none)
      // A folder that falsely claims to be it is refused.
      const other = temporaryFolder({ '.git': `gitdir: ${join(folder, '.git', 'worktrees', 'tree')}\n` })
      expect(await commitOf(systemSyncedFolders, other)).toBeUndefined()
    })

    test('runs nothing from a repository’s configuration', async () => {
      const { folder, git } = repository({ 'train.py': '1', '.gitattributes': '*.py filter=own\n' })
      const ran = join(folder, 'ran')
      git('config', 'filter.own.clean', `touch ${ran}; cat`)
      git('config', 'core.fsmonitor', `touch ${ran}`)
      writeFileSync(join(folder, 'train.py'), '2')
      expect((await commitOf(systemSyncedFolders, folder))?.changed?.files).toBe(1)
      expect(existsSync(ran)).toBe(false)
      git('status')
      expect(existsSync(ran)).toBe(true)
    })

    test('has no list of changes without git', async () => {
      const { folder, head } = repository({ 'train.py': '1' })
      vi.stubEnv('PATH', '')
      onTestFinished(() => void vi.unstubAllEnvs())
      expect(await commitOf(systemSyncedFolders, folder)).toEqual({ id: head, branch: 'trunk' })
    })
  })
})
