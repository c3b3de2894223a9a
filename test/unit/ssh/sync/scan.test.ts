import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SyncedFolder } from '#platform/folders.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import { readTree, scanOf } from '#ssh/sync/scan.ts'
import { temporaryFolder, writeInto } from '#test/temporary-folder.ts'

let home = ''
beforeEach(() => {
  home = temporaryFolder()
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CONFIG_HOME', undefined)
  return () => void vi.unstubAllEnvs()
})

const git = (folder: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', folder, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** A repository with these files, none of them committed. */
function repository(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(files)
  git(folder, 'init', '-q')
  return folder
}

/** What git itself lists in a folder. */
const listed = (folder: string) =>
  git(folder, 'ls-files', '-co', '--exclude-standard', '-z').split('\0').filter(Boolean).sort()

async function sentFrom(folder: string): Promise<string[]> {
  const { files, links } = await readTree(systemSyncedFolders.at(folder))
  return [...files, ...links].map(({ path }) => path).sort()
}

function withoutGit(): void {
  vi.stubEnv('PATH', '/nowhere')
}

describe.each([
  ['with git', () => undefined],
  ['without git', withoutGit],
])('%s', (_, prepare) => {
  test('rules of the folders above are kept up to the repository’s top', async () => {
    const repo = repository({
      '.gitignore': '*.ckpt\n.venv/\n/train/private/\n',
      'train/a.ckpt': '',
      'train/.venv/x': '',
      'train/private/notes.txt': '',
      'train/train.py': '',
      'train/checkpoints/b.ckpt': '',
    })
    const folder = join(repo, 'train')
    expect(listed(folder)).toEqual(['train.py'])
    prepare()
    const tree = await readTree(systemSyncedFolders.at(folder))
    expect(tree.files.map(({ path }) => path)).toEqual(['train.py'])
    expect(tree.folders).toEqual(['checkpoints'])
    expect(tree.ignored.sort()).toEqual(['.venv/', 'a.ckpt', 'checkpoints/b.ckpt', 'private/'])
  })

  test('a link to a folder uses the rules around its target', async () => {
    const repo = repository({
      '.gitignore': '*.ckpt\n/train/private/\n',
      'train/a.ckpt': '',
      'train/notes-private.md': '',
      'train/private/notes.txt': '',
      'train/sub/b.ckpt': '',
      'train/sub/train.py': '',
    })
    writeInto(repo, { '.git/info/exclude': 'notes-private.md\n' })
    const link = `${repo}-link`
    onTestFinished(() => rmSync(link))
    symlinkSync(join(repo, 'train'), link)
    prepare()
    expect(await sentFrom(link)).toEqual(['sub/train.py'])
  })

  test('the repository’s own exclusions and the user’s are kept', async () => {
    const repo = repository({
      'notes-private.md': '',
      'data-local/x': '',
      'a.local.json': '',
      '.DS_Store': '',
      'train.py': '',
    })
    writeInto(repo, { '.git/info/exclude': 'notes-private.md\n/data-local/\n' })
    writeInto(home, { '.config/git/ignore': '*.local.json\n.DS_Store\n' })
    prepare()
    expect(await sentFrom(repo)).toEqual(['train.py'])
  })

  test('the file that the user’s configuration names is kept', async () => {
    writeInto(home, { '.gitconfig': '[core]\n\texcludesFile = ~/rules\n', rules: 'secret-notes*\n' })
    const repo = repository({ 'secret-notes.md': '', 'train.py': '' })
    prepare()
    expect(await sentFrom(repo)).toEqual(['train.py'])
  })

  test('a worktree uses its repository’s exclusions', async () => {
    const repo = repository({ 'a.py': '' })
    git(repo, 'add', '.')
    git(repo, 'commit', '-qm', 'a')
    writeInto(repo, { '.git/info/exclude': 'priv.txt\n' })
    const tree = `${repo}-tree`
    onTestFinished(() => rmSync(tree, { recursive: true, force: true }))
    git(repo, 'worktree', 'add', '-q', tree)
    writeInto(tree, { 'priv.txt': '', 'train.py': '' })
    prepare()
    expect(await sentFrom(tree)).toEqual(['a.py', 'train.py'])
  })

  test('rules and names may differ in case where the repository says so', async () => {
    const repo = repository({ '.gitignore': 'logs/\n*.PTH\n', 'Logs/a': '', 'm.pth': '', 'train.py': '' })
    git(repo, 'config', 'core.ignorecase', 'true')
    expect(listed(repo)).toEqual(['.gitignore', 'train.py'])
    prepare()
    expect(await sentFrom(repo)).toEqual(['.gitignore', 'train.py'])
  })

  test('a repository in the folder is sent by its own rules', async () => {
    const repo = repository({
      '.gitignore': 'lib/cache/\n',
      'a.py': '',
      'lib/.gitignore': '*.bin\n',
      'lib/b.py': '',
      'lib/b.bin': '',
      'lib/mine.txt': '',
    })
    git(join(repo, 'lib'), 'init', '-q')
    writeInto(repo, { 'lib/.git/info/exclude': 'mine.txt\n' })
    prepare()
    expect(await sentFrom(repo)).toEqual(['.gitignore', 'a.py', 'lib/.gitignore', 'lib/b.py'])
  })

  test('a folder that its repository ignores is sent if it was chosen, by the other rules', async () => {
    const repo = repository({
      '.gitignore': 'scratch/\n*.ckpt\n',
      'scratch/exp/a.ckpt': '',
      'scratch/exp/.gitignore': '*.log\n',
      'scratch/exp/b.log': '',
      'scratch/exp/train.py': '',
    })
    prepare()
    expect(await sentFrom(join(repo, 'scratch/exp'))).toEqual(['.gitignore', 'train.py'])
  })

  test('.berthignore excludes more, and can include files that git ignores', async () => {
    const folder = temporaryFolder({
      '.gitignore': 'data/\n*.ckpt\n*.pkl\n',
      '.berthignore': '!data/\n!model.pkl\nnotes/\n',
      'data/a.csv': '',
      'data/a.ckpt': '',
      'model.pkl': '',
      'other.pkl': '',
      'notes/a.md': '',
      'sub/.berthignore': '/only.txt\n',
      'sub/only.txt': '',
      'sub/deep/only.txt': '',
    })
    prepare()
    expect(await sentFrom(folder)).toEqual(
      [
        '.berthignore',
        '.gitignore',
        'data/a.csv',
        'model.pkl',
        'sub/.berthignore',
        'sub/deep/only.txt',
      ].sort(),
    )
  })

  test('an ignore file that is a link is named, and its rules are not applied', async () => {
    const repo = temporaryFolder({ 'shared.gitignore': '*.ckpt\n', 'project/a.ckpt': '' })
    symlinkSync('../shared.gitignore', join(repo, 'project/.gitignore'))
    prepare()
    const tree = await readTree(systemSyncedFolders.at(join(repo, 'project')))
    expect(tree.files.map(({ path }) => path)).toEqual(['a.ckpt'])
    expect(tree.linkedRules).toEqual(['.gitignore'])
  })
})

test('a file that git tracks is sent, even if a rule names it', async () => {
  const repo = repository({
    '.gitignore': 'data/\n*.pkl\n',
    'data/vocab.json': '',
    'data/other': '',
    'model.pkl': '',
    'other.pkl': '',
  })
  git(repo, 'add', '-f', 'data/vocab.json', 'model.pkl')
  expect(await sentFrom(repo)).toEqual(listed(repo))
  expect(listed(repo)).toEqual(['.gitignore', 'data/vocab.json', 'model.pkl'])
})

test.each([
  ['a split index', ['update-index', '--split-index']],
  ['an untracked cache', ['update-index', '--force-untracked-cache']],
])('a repository with %s is read', async (_, words) => {
  const repo = repository({ '.gitignore': '*.pkl\n', 'model.pkl': '', 'other.pkl': '' })
  git(repo, 'add', '-f', 'model.pkl')
  git(repo, ...words)
  expect(await sentFrom(repo)).toEqual(['.gitignore', 'model.pkl'])
})

test('a repository with SHA-256 is read', async () => {
  const repo = temporaryFolder({ '.gitignore': '*.pkl\n', 'model.pkl': '', 'other.pkl': '' })
  git(repo, 'init', '-q', '--object-format=sha256')
  git(repo, 'add', '-f', 'model.pkl')
  expect(await sentFrom(repo)).toEqual(['.gitignore', 'model.pkl'])
})

test('runs nothing from a hostile repository’s configuration', async () => {
  const repo = temporaryFolder({
    'a.py': '',
    '.gitignore': '*.log\n',
    '.gitattributes': '* filter=evil diff=evil\n',
  })
  const marker = join(home, 'ran')
  writeInto(home, { evil: `#!/bin/sh\necho "$0 $@" >> ${marker}\n` })
  chmodSync(join(home, 'evil'), 0o755)
  const evil = join(home, 'evil')
  git(repo, 'init', '-q')
  git(repo, 'add', '.')
  git(repo, 'commit', '-qm', 'a')
  for (const hook of readdirSync(join(repo, '.git/hooks'))) rmSync(join(repo, '.git/hooks', hook))
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'post-checkout', 'reference-transaction'])
    symlinkSync(evil, join(repo, '.git/hooks', hook))
  const keys = [
    'core.fsmonitor',
    'core.sshCommand',
    'core.gitProxy',
    'core.pager',
    'core.editor',
    'core.askPass',
    'core.alternateRefsCommand',
    'pager.config',
    'pager.ls-files',
    'filter.evil.clean',
    'filter.evil.process',
    'diff.evil.command',
    'diff.evil.textconv',
    'credential.helper',
    'uploadpack.packObjectsHook',
    'trace2.eventTarget',
  ]
  for (const key of keys) git(repo, 'config', key, evil)
  for (const alias of ['config', 'ls-files', 'status']) git(repo, 'config', `alias.${alias}`, `!${evil}`)
  git(repo, 'config', 'core.hooksPath', join(repo, '.git/hooks'))
  git(repo, 'config', 'extensions.partialClone', 'origin')
  git(repo, 'config', 'remote.origin.url', `ext::${evil}`)
  git(repo, 'config', 'protocol.ext.allow', 'always')
  git(repo, 'config', 'include.path', join(repo, 'more'))
  writeInto(repo, { more: `[core]\n\tfsmonitor = ${evil}\n`, 'a.log': '' })
  rmSync(marker, { force: true })
  expect(await sentFrom(repo)).toEqual(['.gitattributes', '.gitignore', 'a.py', 'more'])
  expect(existsSync(marker)).toBe(false)
})

test('a name that is no Unicode text is named, and so is a folder of that kind', async () => {
  const folder = temporaryFolder({ 'a.py': '', '.gitignore': '*.ckpt\n' })
  const bytes = (text: string) => Buffer.from(join(folder, text), 'latin1')
  writeFileSync(bytes('caf\u00e9.txt'), 'x')
  writeFileSync(bytes('caf\u00e9.ckpt'), 'x')
  mkdirSync(bytes('donn\u00e9es'))
  writeFileSync(bytes('donn\u00e9es/train.csv'), 'x')
  const tree = await readTree(systemSyncedFolders.at(folder))
  expect(tree.skipped.sort((one, other) => one.path.localeCompare(other.path))).toEqual([
    { path: 'caf\ufffd.txt', why: 'not_unicode' },
    { path: 'donn\ufffdes', why: 'not_unicode' },
  ])
  expect(tree.ignored).toHaveLength(1)
})

const facts = { size: 0, modified: 0, executable: false }
const ownRules = async () => ({ ignoreCase: false, outside: [], linked: [] })

test('a folder that cannot be listed and a file that cannot be read are named', async () => {
  const folder: Pick<SyncedFolder, 'list' | 'read' | 'rules'> = {
    list: async path => {
      if (path !== '') throw new Error('not permitted')
      return [
        { name: 'closed', kind: 'folder', ...facts },
        { name: 'a.txt', kind: 'unreadable', ...facts },
        { name: 'b.tmp', kind: 'vanished', ...facts },
      ]
    },
    read: async () => undefined,
    rules: ownRules,
  }
  const { skipped } = await readTree(folder as SyncedFolder)
  expect(skipped).toEqual([
    { path: 'closed', why: 'unreadable' },
    { path: 'a.txt', why: 'unreadable' },
    { path: 'b.tmp', why: 'changed' },
  ])
})

test('ignore rules that would take for ever end with a word', async () => {
  const folder: Pick<SyncedFolder, 'list' | 'read' | 'rules'> = {
    list: async path => [
      { name: '.berthignore', kind: path === '' ? 'file' : 'other', ...facts },
      ...(path.length < 120 ? [{ name: 'a', kind: 'folder' as const, ...facts }] : []),
    ],
    read: async () => ({ bytes: Buffer.from(`${'**/a/'.repeat(30)}b`), ...facts }),
    rules: ownRules,
  }
  await expect(readTree(folder as SyncedFolder)).rejects.toMatchObject({ problem: { code: 'ignore_file' } })
})

test('a small file with a token is held back with the reason, a large one is sent', async () => {
  const text = `login("hf_${'aB3dE6gH9'.repeat(4)}")\n`
  const folder = temporaryFolder({
    'notes.py': text,
    'large.py': text.padEnd(64 * 1024 + 1),
    '.env': 'A=1',
    'a.py': '',
  })
  const tree = await readTree(systemSyncedFolders.at(folder))
  expect(scanOf(tree).secrets.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual([
    { path: '.env', holds: undefined },
    { path: 'notes.py', holds: 'a Hugging Face token' },
  ])
  expect(tree.files.map(({ path }) => path).sort()).toEqual(['a.py', 'large.py'])
})

test('a folder of results alone stays here with all empty ones in it', async () => {
  const folder = temporaryFolder({
    'train.py': '',
    'out/step-40/model': '',
    'logs/notes.txt': '',
    'logs/log': '',
  })
  for (const path of ['out/step-50/rank0', 'logs/old', 'empty'])
    mkdirSync(join(folder, path), { recursive: true })
  symlinkSync('step-40', join(folder, 'out/latest'))
  symlinkSync('notes.txt', join(folder, 'logs/last'))
  const isResult = ({ path }: { path: string }) => path.startsWith('out/') || path === 'logs/log'
  const tree = await readTree(systemSyncedFolders.at(folder), { isResult })
  expect(tree.files.map(({ path }) => path).toSorted()).toEqual(['logs/notes.txt', 'train.py'])
  expect(tree.folders.toSorted()).toEqual(['empty', 'logs', 'logs/old'])
  expect(tree.links.map(({ path }) => path)).toEqual(['logs/last'])
})
