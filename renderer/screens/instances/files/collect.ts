import { countTree, mostListed, type PageFile } from '#shared/instance/files.ts'
import { type Planned, type PlannedFile, planUpload, type UploadRules } from '#shared/instance/upload-plan.ts'

/** The page's files to upload, and the paths of their folders. */
export interface Collected {
  files: { file: File; about: PageFile }[]
  folders: string[][]
}

/** The most that is listed at once, and the bytes of the largest ignore file that is read. */
const bounds = { entries: mostListed, depth: 64, characters: 4 * 1024 * 1024 }
const longestRules = 128 * 1024

/**
 * The files that ignore rules exclude, then those that would be uploaded. Throws as `rulesInPage` and `countTree` do.
 */
export async function planOf(
  { files }: Collected,
  rulesInPage: (found: { paths: string[]; texts: Record<string, string> }) => Promise<UploadRules>,
): Promise<Planned<PlannedFile & Collected['files'][number]>> {
  const count = countTree('uploaded', bounds)
  const all = files.map(({ file, about }) => ({ file, about, path: about.path, size: about.size }))
  const read = async ({ file }: { file: File }) => {
    const bytes = await file.arrayBuffer().catch(() => undefined)
    return bytes && new TextDecoder('latin1').decode(bytes)
  }
  const texts: Record<string, string> = {}
  for (const { file, path, size } of all) {
    const name = path.join('/')
    count(name, path.length - 1)
    if (/(?:^|\/)(?:\.gitignore|\.berthignore|\.git\/info\/exclude)$/.test(name) && size <= longestRules)
      texts[name] = await file.text()
  }
  const rules = await rulesInPage({ paths: all.map(({ path }) => path.join('/')), texts })
  return planUpload(all, rules, read)
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
