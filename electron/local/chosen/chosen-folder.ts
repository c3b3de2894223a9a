import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { BerthError } from '#contract/problem.ts'
import type { ChosenFolder, Sink } from '#ports/chosen-files.ts'
import { inOrder } from './in-order.ts'

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
  const order = inOrder(file, (await file.stat()).size)
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
    if (codeOf(error) === 'EEXIST' || (await isThere(target))) throw taken(basename(target))
    await rename(part, target)
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function taken(name: string): BerthError {
  return new BerthError({
    code: 'exists',
    message: `Something named ${name} appeared in the folder in the meantime, so it wasn’t replaced.`,
    advice: 'Move it away, then resume.',
  })
}

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
