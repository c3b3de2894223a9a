import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, relative, sep } from 'node:path'
import { countTree } from '#contract/instance/tree-bounds.ts'
import { BerthError } from '#contract/problem.ts'
import type { ChosenItem, OpenSource, Source, SourceList } from '#ports/chosen-files.ts'

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
