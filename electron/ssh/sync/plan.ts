import { dirname, join, normalize } from 'node:path/posix'
import { earlierName, type LocalEntry } from '#platform/folders.ts'
import { isUnreadable, treeBounds } from '#shared/instance/files.ts'
import type { Skipped } from '#shared/instance/sync.ts'
import { BerthError } from '#shared/problem.ts'
import { localName, type NamesOf, nameProblem, withMark } from '../files/transfer/local-names.ts'
import { listedFolderOf, type RemoteItem } from './listing.ts'
import { type LocalFile, type LocalTree, stagingName, wholeName } from './scan.ts'

/** A version of a file: bytes, and the time of its last change in whole epoch seconds. */
export interface Version {
  size: number
  modified: number
}

/** Whether both are there and equal, in whole seconds. */
export function isSameVersion(one: Version | undefined, other: Version | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.size === other.size &&
    Math.floor(one.modified) === Math.floor(other.modified)
  )
}

/** The action for a remote file. `keep`: the local one is the same, or the remote one has not changed. */
export type Fate = 'keep' | 'fetch' | 'beside'

/**
 * `here`: the local file, if any. `synced`: the version that was fetched last, if any. A local file that was changed
 * since then is never replaced, and neither is a file that Berth did not fetch.
 */
export function fateOf(there: Version, here: LocalEntry | undefined, synced: Version | undefined): Fate {
  if (here === undefined) return 'fetch'
  if (here.kind !== 'file') return isSameVersion(there, synced) ? 'keep' : 'beside'
  if (isSameVersion(here, there)) return 'keep'
  if (isSameVersion(here, synced)) return 'fetch'
  return isSameVersion(there, synced) ? 'keep' : 'beside'
}

/** `model (from instance 4711).pt`, with a number from the second name on. */
export function besideName(name: string, from: string, number: number): string {
  return withMark(name, ` (from ${from})${number === 1 ? '' : ` (${number})`}`)
}

/** The path for which a file was to be that stands next to it by a name of `besideName`; its own path for another. */
export function originalPath(path: string): string {
  return path.replace(/ \(from instance \d+\)(?: \(\d+\))?(?=(?:\.[^./]*)?$)/, '')
}

export interface Offered {
  path: string
  item: RemoteItem
}

interface Taken {
  name: string
  inside: Map<string, Taken>
}

/**
 * The listed files and empty folders whose names this system accepts unchanged; others are skipped. Of several names that are equal on
 * this system, the first wins. Nothing of a git repository is fetched, since git here would run what its configuration
 * names: no `.git`, and nothing in a folder that `isRepository` names or that is one by what is listed in it.
 */
export function offeredFiles(
  items: ReadonlyMap<string, RemoteItem>,
  system: NamesOf,
  isRepository: (folder: string) => boolean,
): { files: Offered[]; folders: string[]; skipped: Skipped[] } {
  const files: Offered[] = []
  const folders: string[] = []
  const full = new Set([...items.keys()].map(listedFolderOf))
  const skipped: Skipped[] = []
  const repositories = new Set<string>()
  const taken: Taken['inside'] = new Map()
  for (const [path, item] of items) {
    const names = path.split('/')
    if (isOurs(names)) continue
    const repository = repositoryOf(names, isRepository)
    const why = repository === undefined ? refusal(names) : undefined
    if (repository !== undefined) repositories.add(repository)
    else if (why !== undefined) skipped.push({ path, why: 'name', rule: why })
    else if (item.kind === 'link') skipped.push({ path, why: item.inside ? 'link' : 'dangling' })
    else if (item.kind === 'other') skipped.push({ path, why: 'special' })
    else if (item.kind === 'file') files.push({ path, item })
    else if (!full.has(path)) folders.push(path)
  }
  skipped.push(...[...repositories].map(path => ({ path, why: 'repository' as const })))
  return { files, folders, skipped }

  function refusal(names: readonly string[]): string | undefined {
    if (names.length > treeBounds.depth) return 'its folders are too deep'
    for (const name of names) {
      const why = whyNot(name, system)
      if (why !== undefined) return why
    }
    return isFree(names) ? undefined : 'another one has the same name on this system'
  }

  /** Checks every folder of the path, since folder names clash as file names do. */
  function isFree(names: readonly string[]): boolean {
    let folder = taken
    return names.every(name => {
      const key = folded(name, system)
      const first = folder.get(key) ?? { name, inside: new Map() }
      folder.set(key, first)
      folder = first.inside
      return first.name === name
    })
  }
}

/** Why this system, or Berth, does not store a name unchanged; undefined if it does. */
function whyNot(name: string, system: NamesOf): string | undefined {
  if (isUnreadable(name)) return 'its name is not UTF-8'
  if (isGits.test(name)) return 'its name is git’s own'
  return localName(name, system) === name ? undefined : nameProblem(name, system)
}

/** The outermost git repository that a path is in, as its `.git` or its folder. */
function repositoryOf(
  names: readonly string[],
  isRepository: (folder: string) => boolean,
): string | undefined {
  for (let depth = 0; depth < names.length; depth++) {
    if (names[depth]?.toLowerCase() === '.git') return names.slice(0, depth + 1).join('/')
    const folder = names.slice(0, depth).join('/')
    if (!isRepository(folder)) continue
    if (depth > 0) return folder
    if (gitNames.includes(names[0]?.toLowerCase() ?? '')) return names[0]
  }
  return undefined
}

/** A folder is a git repository without a `.git` by `head` and `commondir`, or by `head`, `objects` and `refs`. */
const gitNames = ['head', 'objects', 'refs', 'commondir']

/**
 * The folders that would be git repositories by what is listed in them together with what they hold here. `has`: whether
 * this computer has something at a path.
 */
export async function repositoriesIn(
  items: ReadonlyMap<string, RemoteItem>,
  system: NamesOf,
  has: (path: string) => Promise<boolean>,
): Promise<Set<string>> {
  const listed = new Map<string, Set<string>>()
  for (const path of items.keys()) {
    const names = path.split('/')
    for (let depth = 0; depth < names.length; depth++) {
      const folder = names.slice(0, depth).join('/')
      const inside = listed.get(folder) ?? new Set()
      listed.set(folder, inside)
      const name = names[depth]?.toLowerCase() ?? ''
      if (gitNames.includes(name)) inside.add(name)
      if (whyNot(names[depth] ?? '', system) !== undefined) break
    }
  }
  const repositories = new Set<string>()
  for (const [folder, inside] of listed) {
    const holds = async (name: string) =>
      inside.has(name.toLowerCase()) || (await has(folder === '' ? name : `${folder}/${name}`))
    if (!(await holds('HEAD'))) continue
    if ((await holds('commondir')) || ((await holds('objects')) && (await holds('refs'))))
      repositories.add(folder)
  }
  return repositories
}

/** A name's form that is equal for all names that this system takes for the same. */
function folded(name: string, system: NamesOf): string {
  return system === 'linux' ? name : name.normalize('NFC').toLowerCase()
}

/** The short name that Windows gives `.git`. */
const isGits = /^git~\d+$/i

function isOurs([first = '', ...rest]: readonly string[]): boolean {
  return (
    [stagingName, `${stagingName}.pid`, earlierName].includes(first) ||
    (rest.at(-1) ?? first).endsWith('.berth-part')
  )
}

/** The most links from one to the next until a file or folder. */
const longestChain = 10

/** The listed file or folder that a link leads to; undefined for one by way of a folder that is a link. `remote`: the listed folder. */
export function linkedPath(
  link: string,
  items: ReadonlyMap<string, RemoteItem>,
  remote: string,
): string | undefined {
  let path = link
  for (let length = 0; length <= longestChain; length++) {
    const { kind, target = '' } = items.get(path) ?? {}
    if (kind === 'file' || kind === 'folder') return path
    if (kind !== 'link' || target === '') return undefined
    const start = `${remote}/`
    if (target.startsWith('/') && !target.startsWith(start)) return undefined
    path = target.startsWith('/') ? normalize(target.slice(start.length)) : join(dirname(path), target)
  }
  return undefined
}

/** The files to send, and the state of the staging folder that an interrupted sync left on the instance. */
export interface UpPlan {
  files: readonly LocalFile[]
  links: readonly { path: string; target: string }[]
  /** Folders that are missing, and that no sent file or link creates. */
  folders: readonly string[]
  /** Total bytes of `files`. */
  bytes: number
  /** Number of files that need not be sent, including those in the staging folder. */
  unchanged: number
  /** Whether the staged files can be used; otherwise they are removed first. */
  resumes: boolean
  /** Whether the staging folder has any entries. */
  gathered: boolean
}

interface Known {
  /** Whether local files have an executable bit. */
  modes: boolean
  /** The versions of files that were downloaded, by path. */
  downloaded: ReadonlyMap<string, Version>
}

/**
 * The files that differ from the remote ones in size, in the second of the last change or, with `modes`, in being
 * executable. A file that was `downloaded` and not changed here since isn't one: there it may have been changed.
 */
export function changedFiles(
  files: readonly LocalFile[],
  listed: ReadonlyMap<string, RemoteItem>,
  { modes, downloaded }: Known,
): LocalFile[] {
  return files.filter(file => {
    const there = listed.get(file.path)
    return !isSame(file, there, modes) && !(there && isSameVersion(file, downloaded.get(file.path)))
  })
}

/**
 * Plans what to send so that the remote folder has all local files. Files that are only there stay. Throws
 * `in_the_way`.
 */
export function planUp(
  { files, folders, links }: Pick<LocalTree, 'files' | 'folders' | 'links'>,
  listed: ReadonlyMap<string, RemoteItem>,
  known: Known,
): UpPlan {
  const { there, gathered } = parted(listed)
  for (const path of folders) refuseUnless(there.get(path)?.kind !== 'file', path, 'folder')
  const missing = changedFiles(files, there, known)
  for (const { path } of missing) refuseUnless(there.get(path)?.kind !== 'folder', path, 'file')
  const missingLinks = links.filter(({ path, target }) => there.get(path)?.target !== target)
  for (const { path } of missingLinks) refuseUnless(there.get(path)?.kind !== 'folder', path, 'link')

  const missingByPath = new Map(missing.map(file => [file.path, file]))
  const resumes = [...gathered].every(
    ([path, { kind }]) => kind === 'folder' || (kind === 'file' && missingByPath.has(path)),
  )
  const left = resumes ? missing.filter(file => !isSame(file, gathered.get(file.path), known.modes)) : missing
  const made = new Set([...left, ...missingLinks].flatMap(({ path }) => foldersAbove(path)))
  return {
    files: left,
    links: missingLinks,
    folders: folders.filter(path => !there.has(path) && !made.has(path)),
    bytes: left.reduce((sum, { size }) => sum + size, 0),
    unchanged: files.length - left.length,
    resumes,
    gathered: gathered.size > 0,
  }
}

/** Separates entries that are in place from those in the staging folder. */
function parted(listed: ReadonlyMap<string, RemoteItem>) {
  const there = new Map<string, RemoteItem>()
  const gathered = new Map<string, RemoteItem>()
  const start = `${stagingName}/`
  for (const [path, item] of listed) {
    if (path === start + wholeName) continue
    if (path.startsWith(start)) gathered.set(path.slice(start.length), item)
    else if (path !== stagingName) there.set(path, item)
  }
  return { there, gathered }
}

function isSame(
  { size, modified, executable }: LocalFile,
  there: RemoteItem | undefined,
  modes: boolean,
): boolean {
  return (
    there?.kind === 'file' &&
    there.size === size &&
    there.modified === Math.floor(modified) &&
    (!modes || there.executable === executable)
  )
}

function foldersAbove(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'))
}

function refuseUnless(free: boolean, path: string, kind: string): void {
  if (free) return
  throw new BerthError({
    code: 'in_the_way',
    message: `${path} is a ${kind} here and something else on the instance, so it was not sent.`,
    advice: 'Remove or rename it on one of the two sides.',
  })
}
