import { execFile } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import type { FolderRules, Repository } from './folders.ts'
import { childEnv } from './programs.ts'
import { isRegular, readLinked, readRegular } from './regular-file.ts'

/** The variables of git's that name the user's own configuration. */
const userSettings = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM']

/** Milliseconds, and bytes of output. */
const bounds = { timeout: 20_000, maxBuffer: 64 * 1024 * 1024, windowsHide: true }
/** The most bytes of an ignore file, of a configuration and of a file that names another folder. */
const longest = 128 * 1024
/** The most bytes of the files that git itself reads: an index, its shared parts together, and the user's rules. */
const most = { index: 64 * 1024 * 1024, rules: 4 * 1024 * 1024 }

/** `pointsBack` says that it names this folder as its own: a `.git` that is a file or a link may lead anywhere. */
type Found = Repository & { pointsBack: boolean }

/**
 * The closest repository around a folder, if it's the user's. Another user could put one above the folder, as `/tmp/.git`,
 * and git's own check of its owner is off when Berth names the repository.
 */
export function repositoryOf(path: string): Found | undefined {
  const found = closestTo(path)
  if (!found) return undefined
  const { top, own, shared } = found
  const isRead = !isThere(join(own, 'commondir')) || isRegular(join(own, 'commondir'), longest)
  return isRead && [top, join(top, '.git'), own, shared].every(isOurs) ? found : undefined
}

/** Whether this user owns it. Windows has no such ids, and there git checks by itself. */
function isOurs(path: string): boolean {
  const user = process.getuid?.()
  return user === undefined || lstatSync(path, { throwIfNoEntry: false })?.uid === user
}

function closestTo(path: string): Found | undefined {
  const git = join(path, '.git')
  if (isFile(join(git, 'HEAD'))) {
    const isOwn = lstatSync(git).isDirectory()
    return { top: path, own: git, shared: sharedOf(git), pointsBack: isOwn }
  }
  const named = /^gitdir: (.+)\n?$/.exec(textOf(git) ?? '')?.[1]
  const own = named === undefined ? undefined : resolve(path, named)
  if (own !== undefined && isFile(join(own, 'HEAD'))) {
    const back = textOf(join(own, 'gitdir'))?.trim() ?? ''
    const pointsBack = resolve(own, back) === git && textOf(join(own, 'commondir')) !== undefined
    return { top: path, own, shared: sharedOf(own), pointsBack }
  }
  return dirname(path) === path ? undefined : closestTo(dirname(path))
}

function sharedOf(own: string): string {
  const named = textOf(join(own, 'commondir'))?.trim()
  return named ? resolve(own, named) : own
}

/** Ignores submodules, since each has its own configuration. */
const changes =
  'status --porcelain=v1 -z --no-renames --untracked-files=no --ignore-submodules=all -- .'.split(' ')

/** The changed files according to git: see `SyncedFolder.changedSince`. */
export async function changedSince(
  folder: string,
  commit: string,
  repository: Repository,
): Promise<readonly string[] | undefined> {
  try {
    const stdout = await inEmptyRepository(repository, commit, git => git(['-C', folder, ...changes]))
    // Each path follows two letters and a space.
    return stdout.split('\0').flatMap(line => (line === '' ? [] : line.slice(3)))
  } catch {
    return undefined
  }
}

/** The rules of git in force below a folder: see `SyncedFolder.rules`. */
export async function rulesBelow(root: string, folder: string, signal?: AbortSignal): Promise<FolderRules> {
  const place = { folder, repository: repositoryOf(folder), root }
  const settings = await settingsOf(place.repository, signal)
  const ignored = await ignoredByGit(place, settings, signal)
  signal?.throwIfAborted()
  const { ignoreCase } = settings
  const { outside, linked } = rulesOutside(place, settings)
  return { ignoreCase, ignored, outside, linked }
}

/** A folder, its repository if there is one, and the outermost folder whose rules count where there is none. */
interface Place {
  folder: string
  repository: Repository | undefined
  root: string
}

interface Settings {
  ignoreCase: boolean
  /** Of macOS: git takes both forms of an accented letter for the same. */
  composed: boolean
  /** The user's file of rules for all repositories. */
  global: string
  sha256: boolean
}

/** What the configuration of the user and of the repository says. Only read: nothing that it names is started. */
async function settingsOf(repository: Repository | undefined, signal?: AbortSignal): Promise<Settings> {
  const isWhole =
    repository &&
    (await isPlain([join(repository.shared, 'config'), join(repository.own, 'config.worktree')], signal))
  const env = repository && isWhole ? { GIT_DIR: repository.own, GIT_WORK_TREE: repository.top } : {}
  const get = (...words: string[]) =>
    runGit(['config', '-z', ...words], { env, signal }).then(valuesIn, () => new Map<string, string>())
  const config = repository && textOf(join(repository.shared, 'config'))
  const values = await get('--get-regexp', wanted)
  // Git itself knows other users’ folders, and where it is installed.
  if (/^(?:~[^/]|%|:)/.test(values.get('core.excludesfile') ?? ''))
    for (const [name, value] of await get('--type=path', '--get-regexp', '^core[.]excludesfile$'))
      values.set(name, value)
  const [ignoreCase, composed] = ['core.ignorecase', 'core.precomposeunicode'].map(name =>
    isTrue(values.get(name)),
  )
  // What git wasn't asked about.
  const rest = isWhole ? undefined : config
  const folded = isTrue(inCore(rest, 'ignorecase')) ?? ignoreCase ?? isTrue(inCore(config, 'ignorecase'))
  const { XDG_CONFIG_HOME: configHome = join(homedir(), '.config'), GIT_CONFIG_GLOBAL: chosen } = process.env
  const files =
    chosen === undefined ? [join(homedir(), '.gitconfig'), join(configHome, 'git', 'config')] : [chosen]
  const read = files.map(file => textOf(file, readLinked))
  const own = inCore(rest, 'excludesfile')
  const named =
    own ??
    values.get('core.excludesfile') ??
    [config, ...read].map(text => inCore(text, 'excludesfile')).find(Boolean)
  return {
    ignoreCase: folded ?? (process.platform !== 'linux' && !repository),
    composed: (isTrue(inCore(rest, 'precomposeunicode')) ?? composed) === true,
    global: named
      ? resolve(repository?.top ?? '/', named.replace(/^~(?=[/\\])/, homedir()))
      : join(configHome, 'git', 'ignore'),
    sha256: values.get('extensions.objectformat') === 'sha256',
  }
}

const wanted = '^(core[.](ignorecase|precomposeunicode|excludesfile)|extensions[.]objectformat)$'

/** The last value of each name that `git config -z` prints; the name alone means `true`. */
function valuesIn(stdout: string): Map<string, string> {
  const pairs = stdout.split('\0').filter(Boolean)
  return new Map(
    pairs.map(pair => {
      const [name = '', ...value] = pair.split('\n')
      return [name, value.length === 0 ? 'true' : value.join('\n')]
    }),
  )
}

/** As git reads it; undefined where it's absent or neither. */
function isTrue(value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined
  if (/^(?:true|yes|on|-?0*[1-9]\d*)$/i.test(value)) return true
  return /^(?:false|no|off|-?0+|)$/i.test(value) ? false : undefined
}

/** The most files of a configuration. */
const mostIncluded = 20

/**
 * Whether a repository's configuration and all files that it includes are regular files: git would wait for a pipe. Where
 * they aren't, the repository's own text alone counts.
 */
async function isPlain(configs: readonly string[], signal?: AbortSignal): Promise<boolean> {
  const waiting = configs.filter(isThere)
  const seen = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    const text = textOf(file, configs.includes(file) ? undefined : readLinked)
    if (text === undefined || seen.size >= mostIncluded) return false
    seen.add(file)
    if (!/\[\s*include/i.test(text)) continue
    const listing = [
      'config',
      '-z',
      '--file',
      file,
      '--no-includes',
      '--get-regexp',
      '^include(if[.].*)?[.]path$',
    ]
    const included = await runGit(listing, { env: {}, signal }).then(namesIn, () => undefined)
    if (included?.some(path => /^(?:~[^/]|%)/.test(path)) ?? true) return false
    for (const path of included ?? []) {
      const named = resolve(dirname(file), path.replace(/^~(?=\/)/, homedir()))
      if (isThere(named)) waiting.push(named)
    }
  }
  return true
}

const namesIn = (stdout: string) =>
  stdout.split('\0').flatMap(pair => (pair === '' ? [] : [pair.split('\n').slice(1).join('\n')]))

/** A value of the section `core` where there is no git to ask. */
function inCore(config: string | undefined, name: string): string | undefined {
  let section = ''
  let value: string | undefined
  for (const line of config?.split('\n') ?? []) {
    section = /^\s*\[([^\]]*)\]/.exec(line)?.[1]?.toLowerCase() ?? section
    const [key = '', ...rest] = line.split('=')
    if (section === 'core' && key.trim().toLowerCase() === name) value = rest.join('=').trim()
  }
  return value?.replace(/^"(.*)"$/, '$1')
}

/**
 * The untracked entries below a folder that git ignores, by their paths from there; a folder of which all is ignored
 * ends with `/`. Undefined where the folder itself is ignored, without git, or if it does not answer soon.
 */
async function ignoredByGit(
  { folder, repository, root }: Place,
  { ignoreCase, composed, global, sha256 }: Settings,
  signal?: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const top = repository?.top ?? root
  const exclude = repository && join(repository.shared, 'info', 'exclude')
  const set = [
    `core.ignorecase=${ignoreCase}`,
    `core.precomposeunicode=${composed}`,
    `core.excludesFile=${isRegular(global, most.rules) ? global : ''}`,
  ].flatMap(value => ['-c', value])
  const own = exclude !== undefined && isRegular(exclude, most.rules) ? [`--exclude-from=${exclude}`] : []
  const listing = ['ls-files', '-z', '--others', '--ignored', '--directory', '--exclude-standard', ...own]
  const borrowed = repository ?? { top, own: '', shared: '' }
  try {
    return await inEmptyRepository(borrowed, undefined, git => git([...set, '-C', folder, ...listing]), {
      sha256,
      signal,
    })
      .then(stdout => stdout.split('\0').filter(Boolean))
      .then(found => (found.includes('./') ? undefined : wholeOnly(found, composed)))
  } catch {
    return undefined
  }
}

/** Git also lists a folder in which every file is ignored one by one; such a folder itself is not. */
function wholeOnly(found: readonly string[], composed: boolean): ReadonlySet<string> {
  const entries = new Set(composed ? found.flatMap(path => [path, path.normalize('NFD')]) : found)
  for (const path of found) {
    for (let at = path.lastIndexOf('/', path.length - 2); at > 0; at = path.lastIndexOf('/', at - 1))
      entries.delete(path.slice(0, at + 1))
  }
  return entries
}

/** The ignore files above a folder up to its repository's top, and those of the repository and the user. */
function rulesOutside(
  { folder, repository, root }: Place,
  { global }: Settings,
): Pick<FolderRules, 'outside' | 'linked'> {
  const top = repository?.top ?? root
  const within = (above: string) => relative(above, folder).split(sep).filter(Boolean).join('/')
  const texts = [
    textOf(global, readLinked),
    repository && textOf(join(repository.shared, 'info', 'exclude'), readLinked),
  ]
  const outside = texts.map(text => ({ within: within(top), text: text ?? '' }))
  const linked: string[] = []
  const names = within(top).split('/').filter(Boolean)
  for (const at of names.keys()) {
    const above = join(top, ...names.slice(0, at))
    const file = join(above, '.gitignore')
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) linked.push(file)
    else outside.push({ within: within(above), text: textOf(file) ?? '' })
  }
  return { outside: outside.filter(({ text }) => text !== ''), linked }
}

/**
 * Calls git in an empty repository that borrows the index and the objects of another one, whose configuration may be a
 * stranger's and can name programs to run. Git is not started in the folder, since Windows would search it for the
 * program first.
 */
async function inEmptyRepository(
  { top, own, shared }: Repository,
  commit: string | undefined,
  ask: (git: (words: readonly string[]) => Promise<string>) => Promise<string>,
  { sha256, signal }: { sha256?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  // Small files, written at once: other work of this thread would come between each two steps.
  const empty = mkdtempSync(join(tmpdir(), 'berth-git-'))
  try {
    const config = sha256 ? '[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n' : ''
    const parts = own === '' ? [] : sharedParts(own)
    if (own !== '' && isThere(join(own, 'index')) && !isRegular(join(own, 'index'), most.index))
      throw unusable
    for (const name of ['refs', 'objects']) mkdirSync(join(empty, name))
    const head = { name: 'HEAD', bytes: `${commit ?? 'ref: refs/heads/none'}\n` }
    for (const { name, bytes } of [head, { name: 'config', bytes: config }, ...parts])
      writeFileSync(join(empty, name), bytes)
    const env = {
      GIT_DIR: empty,
      GIT_WORK_TREE: top,
      ...(own !== '' && {
        GIT_INDEX_FILE: join(own, 'index'),
        GIT_OBJECT_DIRECTORY: join(shared, 'objects'),
      }),
    }
    return await ask(words => runGit(['-c', 'core.fsmonitor=false', ...words], { env, cwd: empty, signal }))
  } finally {
    await rm(empty, { recursive: true, force: true })
  }
}

/** The files that a split index shares, which git looks for beside its configuration. */
function sharedParts(own: string): { name: string; bytes: Buffer }[] {
  const names = readdirSync(own).filter(name => name.startsWith('sharedindex.'))
  let room = most.index
  return names.map(name => {
    const bytes = readRegular(join(own, name), room)?.bytes
    if (!bytes) throw unusable
    room -= bytes.length
    return { name, bytes }
  })
}

const unusable = new Error('its index is no regular file, or too long')

/** What git prints. Rejects where it fails, is not there, or takes too long. */
async function runGit(
  words: readonly string[],
  { env, cwd = tmpdir(), signal }: { env: NodeJS.ProcessEnv; cwd?: string; signal?: AbortSignal },
): Promise<string> {
  const inherited = Object.entries(childEnv(process.env)).filter(
    ([name]) => !name.startsWith('GIT_') || userSettings.includes(name),
  )
  const options = {
    ...bounds,
    cwd,
    signal,
    env: { ...Object.fromEntries(inherited), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', ...env },
  }
  const { stdout } = await promisify(execFile)('git', [...words], options)
  return stdout
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** A regular file that is no longer than an ignore file may be; undefined where there is none. */
function textOf(path: string, flags?: number): string | undefined {
  return readRegular(path, longest, flags)?.bytes.toString('utf8')
}
