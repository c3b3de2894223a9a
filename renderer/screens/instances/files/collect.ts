import type { PageFile } from '#contract/instance/files.ts'
import { likelySecret } from '#contract/instance/secrets.ts'
import type { LikelySecret, UploadPlan } from '#contract/instance/sync.ts'

/** The page's files to upload, and the paths of their folders. */
export interface Collected {
  files: { file: File; about: PageFile }[]
  folders: string[][]
}

/** What of the folders would be uploaded. Files that were chosen one by one are meant, whatever they hold. */
export async function planOf({ files }: Collected): Promise<UploadPlan> {
  const plan = { files: 0, bytes: 0, secrets: [] as LikelySecret[] }
  for (const { file, about } of files) {
    const read = async () => new Uint8Array(await file.arrayBuffer())
    const secret =
      about.path.length < 2
        ? undefined
        : await likelySecret(about.path, about.size, () => read().catch(() => undefined))
    if (secret) plan.secrets.push(secret)
    else {
      plan.files += 1
      plan.bytes += about.size
    }
  }
  return plan
}

/** From the browser's picker. The paths of a picked folder's files begin with the folder's name. */
export function fromPicker(list: Iterable<File>): Collected {
  const files = [...list].map(file => {
    const path = file.webkitRelativePath === '' ? [file.name] : file.webkitRelativePath.split('/')
    return { file, about: aboutOf(file, path) }
  })
  const folders = new Map<string, string[]>()
  for (const { about } of files)
    for (let depth = 1; depth < about.path.length; depth++)
      folders.set(about.path.slice(0, depth).join('/'), about.path.slice(0, depth))
  return { files, folders: [...folders.values()] }
}

/** From a drag. Must be called in the event itself: afterwards its items are gone. */
export async function fromDrag(items: DataTransferItemList): Promise<Collected> {
  const dragged = [...items]
    .filter(({ kind }) => kind === 'file')
    .map(item => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const collected: Collected = { files: [], folders: [] }
  for (const { entry, file } of dragged) {
    if (entry) await visit(entry, [entry.name], collected)
    // A dragged file that is not on the disk has no entry.
    else if (file) collected.files.push({ file, about: aboutOf(file, [file.name]) })
  }
  return collected
}

async function visit(entry: FileSystemEntry, path: string[], collected: Collected): Promise<void> {
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    collected.files.push({ file, about: aboutOf(file, path) })
    return
  }
  if (!isFolderEntry(entry)) return
  collected.folders.push(path)
  const reader = entry.createReader()
  for (;;) {
    // Chromium gives at most a hundred at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return
    for (const inner of some) await visit(inner, [...path, inner.name], collected)
  }
}

function isFileEntry(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolderEntry(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

function aboutOf(file: File, path: string[]): PageFile {
  return { path, size: file.size, modified: file.lastModified }
}
