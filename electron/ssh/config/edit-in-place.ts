import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, open, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

/** The file kept changing while it was edited. */
export class FileBusy extends Error {
  constructor(path: string) {
    super(`${path} kept changing`)
    this.name = 'FileBusy'
  }
}

/** The file at a path. */
interface Found {
  text: string
  mode: number
  uid: number
  gid: number
}

const tries = 5

/**
 * Edits a file that is not Berth's own. Its text is read and written as latin1, so that every byte survives. Symbolic
 * links are followed. The new file replaces the old one in a single step, with its mode and owner; if the file is
 * changed meanwhile, the edit starts over. `edit` gets undefined if there is no file, and returns undefined to delete
 * it. Throws FileBusy, or the file system's error.
 */
export async function editInPlace(
  path: string,
  edit: (text: string | undefined) => string | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const target = await targetOf(path)
    const before = await find(target)
    const after = edit(before?.text)
    if (after === before?.text) return
    if (await replace(target, before, after)) return
  }
  throw new FileBusy(path)
}

/** Writes the edited file; false if the file was changed meanwhile. */
async function replace(
  target: string,
  before: Found | undefined,
  after: string | undefined,
): Promise<boolean> {
  const unchanged = async () => same(await find(target), before)
  if (after === undefined) {
    if (!(await unchanged())) return false
    await rm(target, { force: true })
    return true
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const fresh = `${target}.berth-${randomBytes(6).toString('hex')}`
  try {
    const file = await open(fresh, 'wx', 0o600)
    try {
      await file.writeFile(after, 'latin1')
      await file.sync()
    } finally {
      await file.close()
    }
    if (before) {
      await chown(fresh, before.uid, before.gid).catch(() => undefined)
      await chmod(fresh, before.mode)
    }
    if (!(await unchanged())) return false
    await rename(fresh, target)
    return true
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Follows symbolic links, also to a file that does not exist yet. */
async function targetOf(path: string): Promise<string> {
  let target = path
  for (let hop = 0; hop < 40; hop++) {
    const next = await readlink(target).catch(() => undefined)
    if (next === undefined) return target
    target = await inRealFolder(isAbsolute(next) ? next : `${dirname(target)}/${next}`)
  }
  return target
}

/** Resolves links in the path's folder: `..` after a link means the parent of the link's target. */
async function inRealFolder(path: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => undefined)
  return folder === undefined ? resolve(path) : join(folder, basename(path))
}

async function find(target: string): Promise<Found | undefined> {
  try {
    const [text, { mode, uid, gid }] = await Promise.all([readFile(target, 'latin1'), stat(target)])
    return { text, mode: mode & 0o7777, uid, gid }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function same(one: Found | undefined, other: Found | undefined): boolean {
  return one?.text === other?.text && one?.mode === other?.mode
}
