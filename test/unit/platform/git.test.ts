import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { commitOf } from '#core/projects/commit.ts'
import { repositoryOf, rulesBelow } from '#platform/git.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import { readTree } from '#ssh/sync/scan.ts'
import { temporaryFolder, writeInto } from '#test/temporary-folder.ts'

let home = ''
beforeEach(() => {
  home = temporaryFolder()
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CONFIG_HOME', undefined)
  return () => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  }
})

const git = (folder: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', folder, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

function repository(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(files)
  git(folder, 'init', '-q')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'a')
  return folder
}

const sent = async (folder: string) =>
  (await readTree(systemSyncedFolders.at(folder))).files.map(({ path }) => path).sort()

const wantedIn = (folder: string) =>
  git(folder, 'ls-files', '-co', '--exclude-standard', '-z').split('\0').filter(Boolean).sort()

describe.skipIf(process.platform === 'win32')('a repository with a pipe in a file’s place', () => {
  const names = ['HEAD', 'index', 'config', 'config.worktree', 'info/exclude', 'commondir', 'packed-refs']
  test.each([
    ...names.map(name => [name]),
    ['sharedindex.1', 'sharedindex.2', 'sharedindex.3', 'sharedindex.4', 'sharedindex.5', 'sharedindex.6'],
  ])(
    'as %s is read at once, and holds no other file up',
    async (...pipes) => {
      const folder = repository({ 'a.py': '', '.gitignore': '*.log\n', 'b.log': '' })
      for (const name of pipes) {
        const path = join(folder, '.git', name)
        rmSync(path, { force: true })
        execFileSync('mkfifo', [path])
      }
      expect(await sent(folder)).toEqual(['.gitignore', 'a.py'])
      await commitOf(systemSyncedFolders, folder)
      expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('*.log\n')
    },
    15_000,
  )

  test('as the user’s own rules is no file of rules', async () => {
    const folder = repository({ 'a.py': '' })
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    git(folder, 'config', 'core.excludesFile', pipe)
    expect((await rulesBelow(folder, folder)).ignored).toEqual(new Set())
  }, 15_000)

  test('as a file that its configuration includes isn’t read', async () => {
    const folder = repository({ 'a.py': '', '.gitignore': '*.log\n', 'b.log': '' })
    execFileSync('mkfifo', [join(folder, '.git', 'more')])
    git(folder, 'config', 'core.excludesFile', join(home, 'rules'))
    writeInto(home, { rules: 'a.txt\n' })
    writeInto(folder, { 'a.txt': '' })
    // By hand, since git itself would wait for the pipe.
    const config = join(folder, '.git', 'config')
    writeFileSync(config, `${await readFile(config, 'utf8')}[Include "x"]\n[ include ]\n\tpath = more\n`)
    expect(await sent(folder)).toEqual(['.gitignore', 'a.py'])
  }, 15_000)
})

test.each(['index', 'sharedindex.1'])('its %s of more than 64 MB isn’t given to git', async name => {
  const folder = repository({ 'a.py': '', '.gitignore': '*.log\n', 'b.log': '' })
  const path = join(folder, '.git', name)
  if (!existsSync(path)) writeFileSync(path, '')
  truncateSync(path, 64 * 1024 * 1024 + 1)
  expect((await rulesBelow(folder, folder)).ignored).toBeUndefined()
  expect(await sent(folder)).toEqual(['.gitignore', 'a.py'])
})

test('a repository of another user, around the folder or in it, has no rules and no commit', async () => {
  const above = repository({ 'x.txt': '' })
  const folder = join(above, 'mine')
  mkdirSync(folder)
  writeInto(folder, { 'train.py': '' })
  writeInto(above, { '.git/info/exclude': '*.py\n' })
  expect(await sent(folder)).toEqual([])
  const user = process.getuid?.() ?? 0
  vi.spyOn(process, 'getuid').mockReturnValue(user + 1)
  expect(repositoryOf(folder)).toBeUndefined()
  expect(repositoryOf(above)).toBeUndefined()
  expect(await sent(folder)).toEqual(['train.py'])
  expect(await commitOf(systemSyncedFolders, above)).toBeUndefined()
})

test('the user’s rules count from GIT_CONFIG_GLOBAL and the files it includes', async () => {
  const folder = repository({ 'a.py': '' })
  writeInto(folder, { 'b.log': '' })
  expect(await sent(folder)).toEqual(['a.py', 'b.log'])
  const config = join(home, 'dot', 'config')
  mkdirSync(dirname(config))
  writeInto(home, { 'dot/config': '[include]\n\tpath = more\n', 'dot/rules': '*.log\n' })
  writeInto(home, { 'dot/more': `[core]\n\texcludesFile = ${join(home, 'dot', 'rules')}\n` })
  vi.stubEnv('GIT_CONFIG_GLOBAL', config)
  expect(await sent(folder)).toEqual(['a.py'])
})

test.each([
  ['GIT_CONFIG_GLOBAL', 'dot/config'],
  ['XDG_CONFIG_HOME', 'xdg/git/config'],
  ['the home folder', '.gitconfig'],
])('rules count as they do for git, wherever the configuration of %s names them', async (place, file) => {
  for (const how of ['named', 'included', 'of this repository', 'the usual file']) {
    const folder = repository({ 'a.py': '' })
    writeInto(folder, { 'b.log': '', 'c.tmp': '' })
    home = temporaryFolder({ rules: '*.log\n', more: '' })
    vi.stubEnv('HOME', home)
    vi.stubEnv('XDG_CONFIG_HOME', place === 'XDG_CONFIG_HOME' ? join(home, 'xdg') : undefined)
    vi.stubEnv('GIT_CONFIG_GLOBAL', place === 'GIT_CONFIG_GLOBAL' ? join(home, file) : undefined)
    const named = `[core]\n\texcludesFile = ~/rules\n`
    const path = join(home, 'more')
    const text = {
      named,
      included: `[include]\n\tpath = ${path}\n`,
      'of this repository': `[includeIf "gitdir:${folder}/"]\n\tpath = ${path}\n`,
      'the usual file': '[user]\n\tname = a\n',
    }[how]
    writeInto(home, { [file]: text ?? '', more: named })
    writeInto(home, { [place === 'XDG_CONFIG_HOME' ? 'xdg/git/ignore' : '.config/git/ignore']: '*.tmp\n' })
    expect(await sent(folder), how).toEqual(wantedIn(folder))
  }
})

const names = '[core]\n\texcludesFile = ~/rules\n'
const includes = (path: string) => `[include]\n\tpath = ${path}\n`

test.each<[string, Record<string, string>]>([
  ['more', { '.git/more': names }],
  ['../more', { more: names }],
  ['~/more', { '.git/~/more': '' }],
  ['more', { '.git/more': includes('deep/more'), '.git/deep/more': names }],
  ['missing', { '.git/more': names }],
])('what a repository’s own configuration includes as %s counts as it does for git', async (path, files) => {
  const folder = repository({ 'a.py': '', '.gitignore': '/more\n' })
  writeInto(folder, { 'b.log': '', ...files })
  writeInto(home, { rules: '*.log\n', more: names })
  const config = join(folder, '.git', 'config')
  const before = await readFile(config, 'utf8')
  for (const section of ['include', `includeIf "gitdir:${folder}/"`, 'includeIf "gitdir:/elsewhere/"']) {
    writeFileSync(config, `${before}[${section}]\n\tpath = ${path}\n`)
    expect(await sent(folder), section).toEqual(wantedIn(folder))
  }
})

test.each(['yes', 'ON', '1', '-2', 'no', 'Off', '0', '""', '=', 'true # as here', '"fal"se'])(
  'case counts by the value %s as it does for git',
  async value => {
    const folder = repository({ 'a.py': '', '.gitignore': '*.LOG\n' })
    writeInto(folder, { 'b.log': '' })
    const config = join(folder, '.git', 'config')
    const before = await readFile(config, 'utf8')
    writeFileSync(config, `${before}[Core]\n\tIgnoreCase ${value === '=' ? '' : `= ${value}`}\n`)
    expect(await sent(folder)).toEqual(wantedIn(folder))
  },
)
