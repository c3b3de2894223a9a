import { checkedName, harmless, joined } from '#shared/instance/file-names.ts'
import { countTree, isUnreadable, treeBounds } from '#shared/instance/files.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { unreadableName } from './file-problems.ts'
import type { Sftp } from './sftp.ts'
import { fileKindOf } from './walk.ts'

/** Requests in flight. */
const atOnce = 32

/**
 * Deletes a path: a folder with its contents, and a link without its target. Never `/`. The contents are listed first:
 * throws `too_many_files`, `too_deep` or `unreadable_name` before anything is deleted.
 */
export async function remove(sftp: Sftp, path: string, bounds = treeBounds): Promise<void> {
  const { mode } = await sftp.linkStat(path)
  if (fileKindOf(mode) !== 'folder') return sftp.remove(path)
  // The root has many paths, such as `/workspace/..`.
  if ((await sftp.realPath(path)) === '/')
    throw new BerthError({ code: 'file_denied', message: 'Berth won’t delete the whole disk.' })
  const folders = await contents(sftp, path, bounds)
  for (const { path: folder, names } of folders.toReversed()) {
    for (let at = 0; at < names.length; at += atOnce)
      await Promise.all(names.slice(at, at + atOnce).map(name => sftp.remove(joined(folder, name))))
    await sftp.removeFolder(folder)
  }
}

interface Folder {
  path: string
  depth: number
  /** The entries that are not folders. */
  names: string[]
}

/** The folder and all folders below it, each before its subfolders. */
async function contents(sftp: Sftp, top: string, bounds: typeof treeBounds): Promise<Folder[]> {
  const count = countTree('deleted', bounds)
  const folders: Folder[] = [{ path: top, depth: 1, names: [] }]
  // Subfolders are appended during the loop, which then lists them too.
  for (const { path, depth, names } of folders) {
    const { entries, more, unnamed } = await sftp.list(path, bounds.entries)
    if (more || unnamed > 0) throw new BerthError(unlistable(path))
    for (const { filename, attrs } of entries) {
      if (filename === '.' || filename === '..') continue
      // An invalid name, such as one with a slash, could lead out of the folder.
      if (checkedName(filename) === undefined)
        throw new BerthError({
          code: 'file_failed',
          message: `The instance lists “${harmless(filename)}” in ${harmless(path)}, which isn’t a valid file name.`,
        })
      if (isUnreadable(filename)) throw unreadableName()
      const inner = joined(path, filename)
      count(inner, depth)
      if (fileKindOf(attrs.mode) === 'folder') folders.push({ path: inner, depth: depth + 1, names: [] })
      else names.push(filename)
    }
  }
  return folders
}

const unlistable = (path: string): Problem => ({
  code: 'too_many_files',
  message: `Nothing was deleted: ${harmless(path)} has more entries than Berth lists, or names that are too long.`,
  advice: 'Delete it in the terminal.',
})
