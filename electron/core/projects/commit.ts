import type { Repository, SyncedFolder, SyncedFolders } from '#platform/folders.ts'
import type { ProjectRunView } from '#shared/automation/run.ts'

/** Bytes read of a git file with a name, and of `packed-refs`. */
const most = { name: 4096, packed: 16 * 1024 * 1024 }
/** SHA-1 or SHA-256. */
const hash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** The number of changed files that are named. */
const mostNamed = 20

/**
 * The commit of a folder inside a git repository or worktree, and the files in it that changed since. Reads git's files
 * directly: git itself would run programs from the configuration of an untrusted repository.
 */
export async function commitOf(folders: SyncedFolders, path: string): Promise<ProjectRunView['commit']> {
  const folder = folders.at(path)
  const repository = await folder.repository()
  const head = repository && (await headOf(folders, repository))
  if (!head) return undefined
  const changed = await folder.changedSince(head.id, repository)
  return { ...head, changed: changed && { files: changed.length, named: changed.slice(0, mostNamed) } }
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

/** Git's rules for branch names: no part leads to another folder, and none contains control characters. */
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
