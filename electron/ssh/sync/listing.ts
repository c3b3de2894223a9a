import type { Clock } from '#platform/platform.ts'
import { type RemoteKind, treeBounds } from '#shared/instance/files.ts'
import { BerthError } from '#shared/problem.ts'
import { withoutEnd } from '#shared/text.ts'
import type { Connection } from '../connection/connection.ts'
import { runScript, shellQuoted } from '../exec.ts'
import { listScript } from './scripts.ts'
import { syncRefused } from './sync-problems.ts'

/** An entry of a listing, keyed by its path below the listed folder. */
export interface RemoteItem {
  kind: RemoteKind
  size: number
  /** Whole epoch seconds of the instance's clock. */
  modified: number
  executable: boolean
  /** When content, mode or name last changed, epoch seconds with fraction; absent if the instance does not report it. */
  changed?: number
  /** The target of a link; absent if the instance does not report it. */
  target?: string
  /** Whether it is a link to a file or folder that is listed under another path. */
  inside?: boolean
  /** Whether a program there has it open for writing, as far as the instance tells. */
  open?: boolean
}

export interface RemoteListing {
  items: Map<string, RemoteItem>
  /** The kind of `tar` on the instance. */
  tar: 'gnu' | 'bsd' | 'other'
  /** Free bytes on the disk; absent if the instance does not report them. */
  free?: number
  /** The instance's clock, epoch seconds. */
  now: number
}

/** Milliseconds for a listing, which takes long on a slow disk. */
const patience = 120_000
/** The most characters before the first entry: Berth's own line, and the output of `df`. */
const longestStart = 2000
/** The most characters of a path. */
const longestPath = 4096

/**
 * Lists paths below a folder with all their contents. `make`: creates the folder first. `links`: lists the targets of
 * links under the links' paths; a link that stays one leads nowhere or too far, unless it is `inside`. `after`: lists
 * after so many seconds of the instance.
 * Throws `no_posix_shell`, `sync_refused`, `no_tar`, `too_many_files`, `ssh_timeout` or `ssh_closed`.
 */
export async function listRemote(
  connection: Connection,
  {
    remote,
    paths,
    make = false,
    links = false,
    after = 0,
    clock,
  }: {
    remote: string
    paths: readonly string[]
    make?: boolean
    links?: boolean
    after?: number
    clock: Clock
  },
): Promise<RemoteListing> {
  const requested = paths.map(path => withoutEnd(path, '/'))
  // A longer command line may be refused, so everything is listed instead.
  const named =
    paths.join(' ').length > 50_000 ? ['.'] : requested.map(path => (path === '.' ? path : `./${path}`))
  const values = { remote, make: make ? 'yes' : '', links: links ? 'yes' : '', after: String(after) }
  const starts = named.map(shellQuoted).join(' ')
  const most = treeBounds.characters
  const { bytes } = await runScript(connection, values, [`set -- ${starts}`, listScript], {
    clock,
    within: patience,
    most,
  })
  if (bytes.length >= most) throw tooMany(remote)
  return parseListing(bytes, remote, requested)
}

/**
 * Parses Berth's own line and the output of `df`, NUL, then for each entry: facts and path, NUL, link target, NUL, and
 * the files that are open for writing as `! ./a/b`, NUL, NUL. The
 * instance is not trusted: entries that do not parse are left out, and so are those that are neither one of the paths
 * nor in a folder that was listed before.
 */
export function parseListing(
  bytes: Buffer,
  remote: string,
  paths: readonly string[],
  bounds = treeBounds,
): RemoteListing {
  const [start = '', ...fields] = bytes.toString('utf8').split('\0')
  const [head = '', ...disk] = start.slice(0, longestStart).split('\n')
  if (head === 'berth-sync refused') throw syncRefused(remote)
  const match = /^berth-sync ok (gnu|bsd|other|none) (\d{1,12})$/.exec(head)
  if (!match) throw new BerthError(noShell)
  const [, tar = 'none', now] = match
  if (tar === 'none') throw new BerthError(noTar)
  const items = new Map<string, RemoteItem>()
  const requested = new Set(paths)
  const isBelow = (folder: string) =>
    folder === '' ? requested.has('.') : items.get(folder)?.kind === 'folder'
  let entries = 0
  for (let at = 0; at + 2 < fields.length; at += 2) {
    const facts = fields[at] ?? ''
    if (facts.endsWith(' .') && isItself.test(facts)) continue
    if (facts.startsWith(openMark)) {
      const item = items.get(facts.slice(openMark.length))
      if (item) item.open = true
      continue
    }
    const read = itemOf(facts, fields[at + 1] ?? '')
    if (read && (requested.has(read.path) || isBelow(listedFolderOf(read.path)))) {
      // A link that was followed, and was also found in another listed folder, is not a link again.
      if (read.item.kind !== 'link' || (items.get(read.path)?.kind ?? 'link') === 'link')
        items.set(read.path, read.item)
    }
    if (++entries > bounds.entries) throw tooMany(remote)
  }
  const free = freeOf(disk)
  return {
    items,
    tar: tar as RemoteListing['tar'],
    now: Number(now),
    ...(free === undefined ? {} : { free }),
  }
}

/** The path above; empty for the listed folder itself. */
export function listedFolderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Free bytes, from the kilobytes in the output of `df -Pk`: the column before the percentage. */
function freeOf(lines: readonly string[]): number | undefined {
  const words = lines[1]?.split(' ').filter(Boolean) ?? []
  const share = words.findIndex((word, at) => at >= 4 && /^\d{1,3}%$/.test(word))
  const free = words[share - 1] ?? ''
  return /^\d{1,13}$/.test(free) ? Number(free) * 1024 : undefined
}

/** Before the path of a file that a program has open for writing. */
const openMark = '! ./'

/** The listing includes the folder itself. */
const isItself = /^\S{1,20} \S{1,20} \S{1,40} \S{1,20} (?:\S{1,40} )?\.$/

const kinds: Readonly<Record<string, RemoteKind>> = { f: 'file', d: 'folder', l: 'link' }

/**
 * `f 1200 1700000000.5 644 1700000000.5 ./a/b`: kind, after a mark where a link led to it; bytes, time of the last
 * change, mode in octal, time of the last change of any kind.
 */
function itemOf(facts: string, target: string): { path: string; item: RemoteItem } | undefined {
  const read =
    /^([>+=]?)([a-zA-Z?]) (\d{1,15}) (-?\d{1,12})(?:\.\d{0,12})? ([0-7]{1,6}) (?:(-?\d{1,12}(?:\.\d{0,12})?) )?\.\//.exec(
      facts,
    )
  if (!read) return undefined
  const [all, mark, letter = '', size, modified, mode = '0', changed] = read
  const path = facts.slice(all.length)
  if (path.length > longestPath) return undefined
  const item: RemoteItem = {
    kind: kinds[letter] ?? 'other',
    size: Number(size),
    modified: Number(modified),
    executable: (Number.parseInt(mode, 8) & 0o100) !== 0,
  }
  if (changed !== undefined) item.changed = Number(changed)
  if (target !== '') item.target = target.slice(0, longestPath)
  if (mark === '=') item.inside = true
  return { path, item }
}

export const noShell = {
  code: 'no_posix_shell',
  message: 'The instance’s shell can’t run Berth’s scripts for sending and downloading folders.',
  advice: 'It needs a POSIX sh with find, tar and mv.',
}

const noTar = {
  code: 'no_tar',
  message: 'This instance has no tar, which Berth needs to send and download folders.',
  advice: 'Install tar there, or use another image.',
}

function tooMany(remote: string): BerthError {
  return new BerthError({
    code: 'too_many_files',
    message: `${remote} on the instance has more files and folders than Berth lists.`,
    advice: 'Choose a folder further inside, or remove files there.',
  })
}
