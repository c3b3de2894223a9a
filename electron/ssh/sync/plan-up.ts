import { BerthError } from '../../contract/problem.ts'
import type { RemoteItem } from './listing.ts'
import { type LocalFile, type LocalTree, stagingName, wholeName } from './scan.ts'

/** What must be sent, and what of it an earlier sync that broke off has left on the instance. */
export interface UpPlan {
  files: readonly LocalFile[]
  links: readonly { path: string; target: string }[]
  /** Empty folders, and those that only hold what is not sent. */
  folders: readonly string[]
  /** Bytes of those files. */
  bytes: number
  /** Files that are there already, the gathered ones among them. */
  unchanged: number
  /** Whether what was gathered is of use; otherwise it is removed first. */
  resumes: boolean
  /** Whether anything was gathered that has not come to its place. */
  gathered: boolean
}

/**
 * What must be sent so that a folder on an instance has all that is here: whatever differs in size, in the second of its
 * last change or in whether it can be executed. What is there alone stays. Throws `in_the_way`.
 */
export function planUp(
  { files, folders, links, secrets }: LocalTree,
  listed: ReadonlyMap<string, RemoteItem>,
  confirmed: ReadonlySet<string>,
  modes: boolean,
): UpPlan {
  const { there, gathered } = parted(listed)
  const sent = [...files, ...secrets.filter(({ path }) => confirmed.has(path))]
  for (const path of folders) refuseUnless(there.get(path)?.kind !== 'file', path, 'folder')
  const missing = sent.filter(file => !isSame(file, there.get(file.path), modes))
  for (const { path } of missing) refuseUnless(there.get(path)?.kind !== 'folder', path, 'file')
  const missingLinks = links.filter(({ path, target }) => there.get(path)?.target !== target)
  for (const { path } of missingLinks) refuseUnless(there.get(path)?.kind !== 'folder', path, 'link')

  const wanted = new Map(missing.map(file => [file.path, file]))
  const resumes = [...gathered].every(
    ([path, { kind }]) => kind === 'folder' || (kind === 'file' && wanted.has(path)),
  )
  const left = resumes ? missing.filter(file => !isSame(file, gathered.get(file.path), modes)) : missing
  const made = new Set([...left, ...missingLinks].flatMap(({ path }) => foldersAbove(path)))
  return {
    files: left,
    links: missingLinks,
    folders: folders.filter(path => !there.has(path) && !made.has(path)),
    bytes: left.reduce((sum, { size }) => sum + size, 0),
    unchanged: sent.length - left.length,
    resumes,
    gathered: gathered.size > 0,
  }
}

/** What is in its place, and what was gathered for it. */
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
