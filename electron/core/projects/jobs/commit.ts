import { dirname, join, resolve } from 'node:path'
import type { JobView } from '../../../contract/project/project.ts'
import type { Repository, SyncedFolder, SyncedFolders } from '../../../ports/synced-folders.ts'

/** Bytes of what git keeps a name in, and of the file in which it packs many. */
const most = { name: 4096, packed: 16 * 1024 * 1024 }
/** SHA-1 or SHA-256. */
const hash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** Names that are told of files that have changed. */
const mostNamed = 20

/**
 * The commit that a folder stands at, where it is in a git repository or a worktree of one, and the files in it that have
 * changed since. Git's own files are read here: git itself would do what the configuration of a stranger's repository
 * tells it to.
 */
export async function commitOf(folders: SyncedFolders, path: string): Promise<JobView['commit']> {
  const repository = await repositoryOf(folders, path)
  const head = repository && (await headOf(folders, repository))
  if (!head) return undefined
  const changed = await folders.at(path).changedSince(head.id, repository)
  return { ...head, changed: changed && { files: changed.length, named: changed.slice(0, mostNamed) } }
}

/** The closest one around a folder. */
async function repositoryOf(folders: SyncedFolders, path: string): Promise<Repository | undefined> {
  const there = await folders.at(path).stat('.git')
  const own = join(path, '.git')
  if (there?.kind === 'folder') return { top: path, own, shared: own }
  if (there?.kind === 'file') return worktreeOf(folders, path)
  return there || dirname(path) === path ? undefined : repositoryOf(folders, dirname(path))
}

/** A file could lead anywhere: only to a repository that leads back to it. */
async function worktreeOf(folders: SyncedFolders, top: string): Promise<Repository | undefined> {
  const named = /^gitdir: (.+)\n?$/.exec((await textOf(folders.at(top), '.git')) ?? '')?.[1]
  if (named === undefined) return undefined
  const own = resolve(top, named)
  const back = (await textOf(folders.at(own), 'gitdir'))?.trim() ?? ''
  const shared = (await textOf(folders.at(own), 'commondir'))?.trim() ?? ''
  if (resolve(own, back) !== join(top, '.git') || shared === '') return undefined
  return { top, own, shared: resolve(own, shared) }
}

async function headOf(
  folders: SyncedFolders,
  { own, shared }: Repository,
): Promise<{ id: string; branch?: string } | undefined> {
  const head = (await textOf(folders.at(own), 'HEAD'))?.trim() ?? ''
  if (hash.test(head)) return { id: head }
  const name = head.startsWith('ref: ') ? head.slice(5).trim() : ''
  if (!isBranch(name)) return undefined
  const branches = folders.at(shared)
  const loose = (await textOf(branches, name))?.trim()
  const id = loose ?? packed(name, (await textOf(branches, 'packed-refs', most.packed)) ?? '')
  return id !== undefined && hash.test(id) ? { id, branch: name.slice('refs/heads/'.length) } : undefined
}

async function textOf(folder: SyncedFolder, path: string, bytes = most.name): Promise<string | undefined> {
  return (await folder.read(path, bytes))?.bytes.toString('utf8')
}

/** As git allows it: no name in it leads elsewhere, and none holds what a line of text could not. */
function isBranch(name: string): boolean {
  if (!name.startsWith('refs/heads/') || name.length > 300) return false
  return name
    .split('/')
    .every(part => /^[^\p{C}\p{Z}~^:?*[\\]+$/u.test(part) && !/^\.|\.\.|\.lock$/.test(part))
}

function packed(name: string, text: string): string | undefined {
  return text
    .split('\n')
    .find(line => line.endsWith(` ${name}`))
    ?.split(' ')[0]
}
