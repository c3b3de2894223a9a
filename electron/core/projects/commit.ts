import type { JobView } from '../../contract/project/project.ts'
import type { SyncedFolder } from '../../ports/synced-folders.ts'

/** Bytes of what git keeps a name in, and of the file in which it packs many. */
const most = { name: 4096, packed: 16 * 1024 * 1024 }
/** SHA-1 or SHA-256. */
const hash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/**
 * The commit that a folder stands at, where it is a git repository. Its files are read here: git itself would do what
 * the configuration of a stranger's repository tells it to. Undefined where that is elsewhere, as of a worktree.
 */
export async function commitOf(folder: SyncedFolder): Promise<JobView['commit']> {
  const read = async (path: string, bytes: number) => (await folder.read(path, bytes))?.bytes.toString('utf8')
  if ((await folder.look('.git'))?.kind !== 'folder') return undefined
  const head = (await read('.git/HEAD', most.name))?.trim() ?? ''
  if (hash.test(head)) return { id: head }
  const name = head.startsWith('ref: ') ? head.slice(5).trim() : ''
  if (!isBranch(name)) return undefined
  const loose = (await read(`.git/${name}`, most.name))?.trim()
  const id = loose ?? packed(name, (await read('.git/packed-refs', most.packed)) ?? '')
  return id !== undefined && hash.test(id) ? { id, branch: name.slice('refs/heads/'.length) } : undefined
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
