import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { countTree } from '#shared/instance/files.ts'
import { BerthError, type Problem } from '../shared/problem.ts'
import { diskReserve } from './disk-reserve.ts'
import { ensureFolder } from './ensure-folder.ts'
import type { ChosenFolder, ChosenItem, Downloads, OpenSource, Sink, Source, SourceList } from './folders.ts'

/** A local folder that the user chose for downloads. Paths in it are lists of plain names. */
export function chosenFolder(root: string): ChosenFolder {
  const at = (path: readonly string[]) => {
    // The caller has mapped the names, so a path out of the folder is a bug.
    if (path.length === 0 || path.some(name => !isPlain(name))) throw new Error('not a path in the folder')
    return join(root, ...path)
  }
  return {
    name: basename(root) || root,
    path: root,
    async freshName(name) {
      const dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length
      for (let number = 1; ; number++) {
        const candidate = number === 1 ? name : `${name.slice(0, dot)} (${number})${name.slice(dot)}`
        if (!(await isThere(at([candidate])))) return candidate
      }
    },
    async makeFolder(path) {
      await mkdir(at(path))
    },
    receive: async (path, version) => openSink(at(path), at([...path.slice(0, -1), partName(path, version)])),
  }
}

function isPlain(name: string): boolean {
  const separators = process.platform === 'win32' ? /[/\\:\0]/ : /[/\0]/
  return name !== '' && name !== '.' && name !== '..' && !separators.test(name)
}

async function openSink(target: string, part: string): Promise<Sink> {
  // Links are not followed, so the temporary file is a real file in the folder.
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
  const file: FileHandle = await open(part, flags, 0o644)
  const order = inOrder(file, (await file.stat()).size, diskReserve(dirname(part)))
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await file.close()
  }
  return {
    get size() {
      return order.size
    },
    async tail(length) {
      const bytes = Buffer.alloc(Math.min(length, order.size))
      await file.read(bytes, 0, bytes.length, order.size - bytes.length)
      return bytes
    },
    async cutTo(wanted) {
      await file.truncate(wanted)
      order.size = wanted
    },
    write: order.write,
    async finish(modified) {
      await file.utimes(modified, modified)
      await close()
      await giveName(part, target)
    },
    leave: close,
    async discard() {
      await close()
      await rm(part, { force: true })
    },
  }
}

/** Uses a hard link, which fails where the name is taken; renames on file systems without hard links. */
async function giveName(part: string, target: string): Promise<void> {
  try {
    await link(part, target)
    await rm(part)
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || (await isThere(target))) throw new BerthError(taken(basename(target)))
    await rename(part, target)
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

const taken = (name: string): Problem => ({
  code: 'exists',
  message: `Something named ${name} appeared in the folder in the meantime, so it wasn’t replaced.`,
  advice: 'Move it away, then resume.',
})

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** The temporary name of an unfinished file: the same for the same version of the same file. */
function partName(path: readonly string[], version: string): string {
  const key = createHash('sha256')
    .update(`${path.at(-1)}/${version}`)
    .digest('hex')
    .slice(0, 16)
  return `.${key}.berth-part`
}

/** Downloads go to `~/Downloads/Berth`, or to `~/Berth` without a Downloads folder. */
export function systemDownloads(home: string): Downloads {
  const downloads = join(home, 'Downloads')
  return {
    get own() {
      return join(existsSync(downloads) ? downloads : home, 'Berth')
    },
    async at(path) {
      await ensureFolder(path)
      return chosenFolder(path)
    },
  }
}

/** A local file or folder that the user chose to upload. */
export function chosenItem(path: string): ChosenItem {
  const name = basename(path)
  return {
    name,
    path,
    async list() {
      const list: SourceList & { folders: string[][]; files: Source[] } = {
        folders: [],
        files: [],
        leftOut: 0,
      }
      await visit(path, [name], { list, top: await realpath(path).catch(gone), count: countTree('uploaded') })
      return list
    },
  }
}

function gone(): never {
  throw new BerthError({
    code: 'no_such_file',
    message: 'The chosen file or folder is no longer on this computer.',
    advice: 'Choose it again.',
  })
}

interface WalkContext {
  list: { folders: string[][]; files: Source[]; leftOut: number }
  /** The real path of the chosen file or folder. */
  top: string
  count: ReturnType<typeof countTree>
}

async function visit(path: string, names: string[], context: WalkContext, isLink = false): Promise<void> {
  const { list, top, count } = context
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isFile()) {
    count(path, names.length - 1)
    list.files.push({
      path: names,
      target: isLink ? [...names.slice(0, 1), ...relative(top, path).split(sep)] : undefined,
      size: stats.size,
      modified: stats.mtimeMs,
      executable: (stats.mode & 0o100) !== 0,
      open: () => openSource(path),
    })
    return
  }
  if (!stats?.isDirectory()) {
    list.leftOut++
    return
  }
  count(path, names.length - 1)
  list.folders.push(names)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    const isLinked = entry.isSymbolicLink()
    const from = isLinked ? await linkedFile(inner, top) : inner
    if (from === undefined) list.leftOut++
    else await visit(from, [...names, entry.name], context, isLinked)
  }
}

/**
 * The real path of the file that a link points to. Undefined where that is outside the chosen folder: the user means to
 * send its contents, and a stranger's link could point to a private key.
 */
async function linkedFile(link: string, top: string): Promise<string | undefined> {
  try {
    const target = await realpath(link)
    return isWithin(top, target) && (await stat(target)).isFile() ? target : undefined
  } catch {
    return undefined
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function openSource(path: string): Promise<OpenSource> {
  const file = await open(path, 'r')
  return {
    async read(offset, into) {
      const { bytesRead } = await file.read(into, 0, into.length, offset)
      return bytesRead
    },
    close: () => file.close(),
  }
}

interface Waiting {
  bytes: Uint8Array
  resolve(): void
  reject(error: unknown): void
}

/** Appends pieces to a file, one after another. */
interface InOrder {
  /** Bytes in the file. */
  size: number
  /** Resolves once they are written. Further calls are queued; after a failure all of them reject. */
  write(bytes: Uint8Array): Promise<void>
}

/**
 * Pieces queued while the disk is busy are written in one call, since each call costs more than its bytes. `reserve`: awaited
 * with the number of bytes before they are written.
 */
export function inOrder(
  file: FileHandle,
  size: number,
  reserve: (bytes: number) => Promise<void> = async () => undefined,
): InOrder {
  const queue: Waiting[] = []
  let writing = false
  let failure: { error: unknown } | undefined

  async function writeAll(): Promise<void> {
    writing = true
    while (queue.length > 0) {
      const batch = queue.splice(0)
      try {
        if (failure) throw failure.error
        await reserve(batch.reduce((sum, { bytes }) => sum + bytes.length, 0))
        await writeWhole(batch.map(({ bytes }) => bytes))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        failure ??= { error }
        for (const { reject } of batch) reject(error)
      }
    }
    writing = false
  }

  async function writeWhole(pieces: Uint8Array[]): Promise<void> {
    let left = pieces
    while (left.length > 0) {
      const { bytesWritten } = await file.writev(left, order.size)
      order.size += bytesWritten
      left = withoutFirst(left, bytesWritten)
    }
  }

  const order: InOrder = {
    size,
    write: bytes =>
      new Promise((resolve, reject) => {
        queue.push({ bytes, resolve: () => resolve(), reject })
        if (!writing) void writeAll()
      }),
  }
  return order
}

/** The rest of the pieces after so many bytes of them. */
function withoutFirst(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let written = bytes
  return pieces.flatMap(piece => {
    const rest = piece.subarray(Math.min(written, piece.length))
    written -= piece.length - rest.length
    return rest.length > 0 ? [rest] : []
  })
}
