import { BerthError } from '#contract/problem.ts'
import type { RemoteItem } from './listing.ts'
import { isSameVersion, type Version } from './plan-down.ts'
import { type LocalFile, type LocalTree, stagingName, wholeName } from './scan.ts'

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
