import type { LocalEntry, SyncedFolder } from '#platform/folders.ts'
import { lastName } from '#shared/instance/file-names.ts'
import { listedFolderOf } from './listing.ts'
import { isSameVersion, originalPath, type Version } from './plan.ts'

/** Where the newest versions of a run's downloaded files are. */
export interface Newest {
  /** Those that stand next to a file that was changed here, by the paths that they had on the machine. */
  elsewhere: ReadonlyMap<string, string>
  /** All that stand next to others. */
  beside: ReadonlySet<string>
  /** Whether each of the newest is here as it came. */
  isWhole: boolean
}

/** `downloaded`: the versions of the run's files, by their paths here. */
export async function newestOf(
  here: Pick<SyncedFolder, 'stat'>,
  downloaded: ReadonlyMap<string, Version>,
): Promise<Newest> {
  const newest = new Map<string, { path: string; version: Version }>()
  for (const [path, version] of downloaded) {
    const original = originalPath(path)
    const known = newest.get(original)
    if (!known || version.modified > known.version.modified) newest.set(original, { path, version })
  }
  const elsewhere = new Map<string, string>()
  let isWhole = true
  for (const [original, { path, version }] of newest) {
    const there = await here.stat(path)
    if (there?.kind !== 'file' || !isSameVersion(there, version)) isWhole = false
    else if (path !== original) elsewhere.set(original, path)
  }
  const beside = new Set([...downloaded.keys()].filter(path => path !== originalPath(path)))
  return { elsewhere, beside, isWhole }
}

/** A folder as a run's machine had it: with the newest versions of its files in place of those that were changed here. */
export function asOnMachine(folder: SyncedFolder, { elsewhere, beside }: Newest): SyncedFolder {
  const at = (path: string) => elsewhere.get(path) ?? path
  return {
    ...folder,
    stat: path => folder.stat(at(path)),
    read: (path, most) => folder.read(at(path), most),
    open: path => folder.open(at(path)),
    async list(path) {
      const start = path === '' ? '' : `${path}/`
      const entries = new Map<string, LocalEntry>()
      for (const entry of await folder.list(path))
        if (!beside.has(start + entry.name)) entries.set(entry.name, entry)
      for (const [original, own] of elsewhere) {
        const there = listedFolderOf(original) === path ? await folder.stat(own) : undefined
        if (there) entries.set(lastName(original), { ...there, name: lastName(original) })
      }
      return [...entries.values()]
    },
  }
}
