import type { RemoteEntry } from '#shared/instance/files.ts'

export type FileSort = 'name' | 'size' | 'modified'

export interface Sorting {
  by: FileSort
  down: boolean
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Whether it opens as a folder: a folder, or a link to one. */
export function isFolder({ kind, link }: RemoteEntry): boolean {
  return kind === 'folder' || link?.kind === 'folder'
}

/** Whether it can be opened as a file. */
export function isFile({ kind, link }: RemoteEntry): boolean {
  return kind === 'file' || link?.kind === 'file'
}

/** Folders first in both directions; names in natural order: `part 2` before `part 10`. */
export function sortEntries(entries: readonly RemoteEntry[], { by, down }: Sorting): RemoteEntry[] {
  const turn = down ? -1 : 1
  return entries.toSorted((a, b) => {
    const folders = Number(isFolder(b)) - Number(isFolder(a))
    if (folders !== 0) return folders
    const difference = by === 'name' ? 0 : (a[by] - b[by]) * turn
    return difference || collator.compare(a.name, b.name) * (by === 'name' ? turn : 1)
  })
}
