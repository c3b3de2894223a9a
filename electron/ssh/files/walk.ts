import { checkedName, harmless, joined } from '#shared/instance/file-names.ts'
import {
  countTree,
  isUnreadable,
  type RemoteEntry,
  type RemoteFolder,
  type RemoteKind,
  treeBounds,
} from '#shared/instance/files.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { SftpLost } from './file-problems.ts'
import type { Sftp, Stats } from './sftp.ts'

/** The most entries of a folder that are shown. */
const mostListed = 20_000
/** The most characters of a link's target that are shown. */
const longestTarget = 4096
/** Links that are followed at a time. */
const atOnce = 32

/** Lists a folder in the server's order. Invalid file names are left out. */
export async function listFolder(sftp: Sftp, path: string): Promise<RemoteFolder> {
  const real = await sftp.realPath(path)
  const { entries: found, more, unnamed } = await sftp.list(real, mostListed)
  const entries: RemoteEntry[] = []
  const visited = new Set<string>()
  for (const { filename, attrs } of found) {
    const name = checkedName(filename)
    if (name === undefined || visited.has(name)) continue
    visited.add(name)
    entries.push({
      name,
      kind: fileKindOf(attrs.mode),
      size: Number(attrs.size ?? 0),
      modified: attrs.mtime ?? 0,
      mode: (attrs.mode ?? 0) & 0o777,
    })
  }
  const links = entries.filter(({ kind, name }) => kind === 'link' && !isUnreadable(name))
  for (let at = 0; at < links.length; at += atOnce)
    await Promise.all(
      links.slice(at, at + atOnce).map(entry => follow(sftp, joined(real, entry.name), entry)),
    )
  return { path: real, entries, more, unnamed: unnamed === 0 ? undefined : unnamed }
}

async function follow(sftp: Sftp, path: string, entry: RemoteEntry): Promise<void> {
  const ignoring = (error: unknown) => {
    if (error instanceof SftpLost) throw error
    return undefined
  }
  const [to, stats] = await Promise.all([
    sftp.readLink(path).catch(ignoring),
    sftp.stat(path).catch(ignoring),
  ])
  entry.link = {
    to: (to ?? '').slice(0, longestTarget),
    kind: stats === undefined ? 'nothing' : fileKindOf(stats.mode),
  }
  if (stats !== undefined) entry.size = stats.size
}

/** The kind of a file, by the type bits of its mode. */
export function fileKindOf(mode: number | undefined): RemoteKind {
  const kind = (mode ?? 0) & 0o170_000
  return kind === 0o100_000 ? 'file' : kind === 0o040_000 ? 'folder' : kind === 0o120_000 ? 'link' : 'other'
}

export interface RemoteFile extends Stats {
  path: string
  /** The names on the path from a chosen file or folder down to this one, as on the instance. */
  names: readonly string[]
}

export interface RemoteTree {
  folders: { names: readonly string[] }[]
  files: RemoteFile[]
  leftOut: number
}

/**
 * Lists the chosen paths with all their contents, folders first. Links to files are followed, links to folders only if
 * they were chosen themselves. Other links, sockets and the like, and names that SFTP cannot ask for are left out.
 * Throws `too_many_files` or `too_deep`.
 */
export async function walk(
  sftp: Sftp,
  paths: readonly string[],
  signal: AbortSignal,
  bounds = treeBounds,
): Promise<RemoteTree> {
  const count = countTree('downloaded', bounds)
  const tree: RemoteTree = { folders: [], files: [], leftOut: 0 }

  async function visit(path: string, names: readonly string[], stats: Stats): Promise<void> {
    signal.throwIfAborted()
    const kind = fileKindOf(stats.mode)
    if (kind === 'file') {
      count(path, names.length - 1)
      tree.files.push({ path, names, ...stats })
      return
    }
    if (kind !== 'folder') {
      tree.leftOut++
      return
    }
    count(path, names.length - 1)
    tree.folders.push({ names })
    const { entries, more, unnamed } = await sftp.list(path, bounds.entries)
    if (more) throw new BerthError(endless(path))
    tree.leftOut += unnamed
    for (const { filename, attrs } of entries) {
      const name = checkedName(filename)
      if (name === undefined) {
        if (filename !== '.' && filename !== '..') tree.leftOut++
        continue
      }
      const inner = joined(path, name)
      if (isUnreadable(name)) tree.leftOut++
      else if (fileKindOf(attrs.mode) !== 'link')
        await visit(inner, [...names, name], {
          size: Number(attrs.size),
          modified: attrs.mtime,
          mode: attrs.mode,
        })
      else {
        const target = await sftp.stat(inner).catch(error => {
          if (error instanceof SftpLost) throw error
          return undefined
        })
        if (target && fileKindOf(target.mode) === 'file') await visit(inner, [...names, name], target)
        else tree.leftOut++
      }
    }
  }

  for (const path of paths) {
    const name = path.split('/').filter(Boolean).at(-1) ?? 'root'
    await visit(path, [name], await sftp.stat(path))
  }
  return tree
}

const endless = (path: string): Problem => ({
  code: 'too_many_files',
  message: `Nothing was downloaded: ${harmless(path)} has more entries than Berth lists.`,
  advice: 'Download part of it, or pack it into an archive in the terminal first.',
})
