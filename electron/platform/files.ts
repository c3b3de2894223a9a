import { randomInt } from 'node:crypto'
import { chmodSync, type Dirent, readdirSync, rmSync } from 'node:fs'
import { lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ensureFolder, ensureFolderSync } from './ensure-folder.ts'
import { readOwnFile, readOwnPart, toAppend, withOwnFile } from './own-file.ts'
import type { Files } from './platform.ts'

/** A file name that would leave the folder, or is not a plain one. A mistake of the caller's, never of the user's. */
export class FileNameError extends Error {
  readonly code = 'bad_file_name'

  constructor(name: string) {
    super(`${JSON.stringify(name)} is not a name of a file that Berth keeps`)
    this.name = 'FileNameError'
  }
}

/** Files below a folder, which is made when it is missing. Folders and files are the user's alone (0700, 0600). */
export function openFiles(root: string): Files {
  ensureFolderSync(root, 0o700)
  // A folder that was there before may have been open to others.
  chmodSync(root, 0o700)
  removeHalfWritten(root)
  const path = (name: string) => join(root, ...checked(name))
  // One that was moved away or deleted is not made again: another Berth could take it for its own, with the records in it.
  const below = { mode: 0o700, within: root }
  /** Changes to a file happen in the order of their calls: two that overlap could otherwise swap. */
  const changing = new Map<string, Promise<void>>()

  function inOrder(target: string, change: () => Promise<void>): Promise<void> {
    const before = changing.get(target) ?? Promise.resolve()
    const mine = before.catch(() => undefined).then(change)
    changing.set(target, mine)
    return mine.finally(() => {
      if (changing.get(target) === mine) changing.delete(target)
    })
  }

  return {
    path,
    async read(name) {
      try {
        return await readOwnFile(path(name))
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    async write(name, text) {
      const target = path(name)
      await inOrder(target, async () => {
        await replace(target, text).catch(async error => {
          if (!isMissing(error)) throw error
          await ensureFolder(dirname(target), below)
          await replace(target, text)
        })
        await syncFolder(dirname(target))
      })
    },
    async append(name, content) {
      const target = path(name)
      await inOrder(target, async () => {
        await ensureFolder(dirname(target), below)
        await withOwnFile(target, toAppend, file => file.appendFile(content, 'utf8'))
      })
    },
    readPart: (name, from, most) => readPart(path(name), from, most),
    list: folder => list(path(folder)),
    async move(name, to) {
      const target = path(to)
      await inOrder(target, async () => {
        const isTaken = await lstat(target).catch(() => undefined)
        if (isTaken) throw Object.assign(new Error(`${target} exists`), { code: 'EEXIST' })
        await rename(path(name), target)
        await syncFolder(dirname(target))
      })
    },
    async delete(name) {
      await rm(path(name), { force: true })
    },
  }
}

/**
 * Writes a file, or what a link leads to, whole or not at all. A library for it takes three times as long, and a record
 * is written with each step of a run.
 */
async function replace(target: string, text: string): Promise<void> {
  const place = await realpath(target).catch(() => target)
  // Root may write a file of the user's, who is to read it.
  const owner = process.getuid?.() === 0 ? await stat(place).catch(() => undefined) : undefined
  const half = `${place}.${randomInt(1e5, 1e9)}`
  const file = await open(half, 'wx', 0o600)
  try {
    try {
      await file.writeFile(text)
      if (owner && owner.uid !== 0) await file.chown(owner.uid, owner.gid)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(half, place)
  } catch (error) {
    await rm(half, { force: true })
    throw error
  }
}

/** Letters, digits, dots, dashes and underscores between forward slashes; no `.` or `..`. */
function checked(name: string): string[] {
  const parts = name.split('/')
  const plain = parts.every(part => /^[A-Za-z0-9._-]{1,128}$/.test(part) && part !== '.' && part !== '..')
  if (!plain) throw new FileNameError(name)
  return parts
}

async function readPart(target: string, from: number, most: number): Promise<Buffer> {
  try {
    return await readOwnPart(target, from, most)
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0)
    throw error
  }
}

async function list(folder: string): Promise<{ name: string; size: number }[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    const files = entries.filter(entry => entry.isFile())
    return await Promise.all(
      files.map(async ({ name }) => ({ name, size: (await stat(join(folder, name))).size })),
    )
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** A rename is on disk only once its folder is. Not every platform can sync a folder, and Windows need not. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What a write leaves beside its target (`name.123456789`) when the process is killed in its middle. */
function removeHalfWritten(root: string): void {
  const accounts = entriesOf(join(root, 'accounts'))
  for (const folder of [root, ...accounts.map(account => join(root, 'accounts', account.name))])
    for (const entry of entriesOf(folder))
      if (entry.isFile() && /\.[a-z]+\.\d{5,10}$/.test(entry.name))
        rmSync(join(folder, entry.name), { force: true })
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
