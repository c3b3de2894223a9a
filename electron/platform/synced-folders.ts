import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs'
import {
  chmod,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BerthError } from '../shared/problem.ts'
import { inOrder } from './chosen-files.ts'
import { diskReserve } from './disk-reserve.ts'
import { answering } from './folder-answers.ts'
import {
  earlierName,
  type LocalEntry,
  type OpenFile,
  ofRun,
  type Receiving,
  type ReplacedFile,
  type SyncedFolder,
  type SyncedFolders,
} from './folders.ts'
import { changedSince, repositoryOf, rulesBelow } from './git.ts'
import { readOnly, readRegular } from './regular-file.ts'
import { inSlices } from './tasks.ts'

/** Folders synced with instances. Small files are read synchronously, which takes a quarter of the time. */
export const systemSyncedFolders: SyncedFolders = { at: syncedFolder }

function syncedFolder(root: string): SyncedFolder {
  const pause = inSlices()
  const answered = answering(root)
  const reserve = diskReserve(root)
  /** To wait for before each call: see `answering`. */
  const turn = () => answered() ?? pause()
  const user = process.geteuid?.()
  /** The system is only asked about files that are not plainly this user's own. */
  const isReadable = (path: string, { uid, mode }: Stats) =>
    (uid === user && (mode & 0o400) !== 0) || mayRead(path)
  const at = (path: string) => {
    const names = path.split('/')
    if (path !== '' && !names.every(isPlain)) throw new Error('not a path in the folder')
    return join(root, ...names)
  }
  const made = new Set<string>()
  async function makeFolder(path: string): Promise<boolean> {
    const names = path === '' ? [] : path.split('/')
    for (let depth = 1; depth <= names.length; depth++) {
      const folder = at(names.slice(0, depth).join('/'))
      const there = await lstat(folder).catch(() => undefined)
      if (there === undefined) {
        await mkdir(folder).catch(error => Promise.reject(fullOr(error)))
        made.add(folder)
      } else if (!there.isDirectory()) return false
    }
    return true
  }
  /** Keeps the file at a path elsewhere, too. The path has a file at every moment, where links are possible. */
  async function keep(path: string, replaced: ReplacedFile): Promise<void> {
    const kept = [earlierName, ...(replaced.of === 'run' ? [ofRun(replaced.run)] : []), ...path.split('/')]
    const earlier = at(kept.join('/'))
    if (!(await makeFolder(kept.slice(0, -1).join('/')))) return
    await createFile(join(at(earlierName), '.gitignore'), '*\n')
    const part = join(dirname(earlier), partName(basename(earlier)))
    await rm(part, { force: true })
    await link(at(path), part).then(
      () => rename(part, earlier),
      () => rename(at(path), earlier),
    )
  }
  // A link leads past the repository that its target lies in.
  const real = () => (lstatSync(root, { throwIfNoEntry: false }) ? realpathSync(root) : root)

  return {
    path: root,
    async list(folder) {
      await answered()
      const names = namesIn(at(folder))
      const entries: LocalEntry[] = []
      const start = join(at(folder), sep)
      for (const { name, isMisnamed } of names) {
        const wait = turn()
        if (wait) await wait
        const entry = isMisnamed
          ? { ...nothing, name, kind: 'misnamed' as const }
          : entryAt(start + name, name, isReadable)
        if (entry?.kind === 'link') await addTarget(root, start + name, entry)
        entries.push(entry ?? { ...nothing, name, kind: 'vanished' })
      }
      return entries
    },
    async stat(path) {
      const wait = turn()
      if (wait) await wait
      return entryAt(at(path), basename(path))
    },
    async read(path, most) {
      const wait = turn()
      if (wait) await wait
      const found = readRegular(at(path), most)
      return found && { bytes: found.bytes, ...factsOf(found.stats) }
    },
    async open(path) {
      await answered()
      return openFile(at(path))
    },
    async create(path, text) {
      await answered()
      return createFile(at(path), text)
    },
    async replace(path, text) {
      await answered()
      return replaceFile(at(path), text)
    },
    async makeFolder(path) {
      await answered()
      return makeFolder(path)
    },
    async makeLink(path, target) {
      await answered()
      const there = await lstat(at(path)).catch(() => undefined)
      if (there && !there.isSymbolicLink()) return false
      if (!(await makeFolder(path.split('/').slice(0, -1).join('/')))) return false
      const part = join(dirname(at(path)), partName(basename(path)))
      const made = async () => {
        await rm(part, { force: true })
        await symlink(target, part)
        await rename(part, at(path))
        return true
      }
      // Windows gives that right to few.
      return made().catch(() => false)
    },
    async receive(path) {
      await answered()
      return receive(at(path), { at, keep, reserve, made })
    },
    async removeEarlier() {
      await answered()
      await rm(at(earlierName), { recursive: true, force: true })
    },
    async repository() {
      await answered()
      const { pointsBack, ...repository } = repositoryOf(real()) ?? { pointsBack: false }
      return pointsBack && 'top' in repository ? repository : undefined
    },
    async rules(folder, signal) {
      await answered()
      return rulesBelow(real(), join(real(), relative(root, at(folder))), signal)
    },
    async changedSince(commit, repository) {
      await answered()
      return changedSince(real(), commit, repository)
    },
  }
}

function isPlain(name: string): boolean {
  const separators = process.platform === 'win32' ? /[/\\:\0]/ : /[/\0]/
  return name !== '' && name !== '.' && name !== '..' && !separators.test(name)
}

interface FileStats {
  size: number
  mtimeMs: number
  mode: number
}

function factsOf({ size, mtimeMs, mode }: FileStats) {
  return { size, modified: mtimeMs / 1000, executable: (mode & 0o100) !== 0 }
}

const nothing = { size: 0, modified: 0, executable: false }

function entryAt(
  path: string,
  name: string,
  isShown: (path: string, stats: Stats) => boolean = () => true,
): LocalEntry | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return undefined
    const kind = kindOf(stats)
    const { size, mtimeMs, mode } = stats
    return {
      name,
      kind: kind === 'file' && !isShown(path, stats) ? 'unreadable' : kind,
      size,
      modified: mtimeMs / 1000,
      executable: (mode & 0o100) !== 0,
    }
  } catch {
    return { ...nothing, name, kind: 'unreadable' }
  }
}

function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** The names in a folder; one that is no Unicode text with the letter �. Throws `no_such_folder`. */
function namesIn(folder: string): { name: string; isMisnamed: boolean }[] {
  try {
    const names = readdirSync(folder)
    if (!names.some(name => name.includes('\ufffd'))) return names.map(name => ({ name, isMisnamed: false }))
    return readdirSync(folder, { encoding: 'buffer' }).map(bytes => ({
      name: bytes.toString('utf8'),
      isMisnamed: !isUtf8(bytes),
    }))
  } catch {
    throw gone(folder)
  }
}

function kindOf(stats: Stats): LocalEntry['kind'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

async function addTarget(root: string, path: string, entry: LocalEntry): Promise<void> {
  const target = await targetInside(root, path)
  if (target !== undefined) entry.target = target
}

/** A link's target, relative to the link's folder; undefined where it is outside the root, also by further links. */
async function targetInside(root: string, link: string): Promise<string | undefined> {
  try {
    const top = await realpath(root)
    const from = await realpath(dirname(link))
    const named = resolve(from, await readlink(link))
    const real = await realpath(link).catch(() => named)
    const way = relative(from, named)
    const isInside = (path: string) => isWithin(top, path) && path !== top
    return isInside(named) && isInside(real) ? way.split(sep).join('/') : undefined
  } catch {
    return undefined
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function openFile(path: string): Promise<OpenFile | undefined> {
  const file = await open(path, readOnly).catch(() => undefined)
  if (file === undefined) return undefined
  const stats = await file.stat()
  if (!stats.isFile()) {
    await file.close()
    return undefined
  }
  return {
    ...factsOf(stats),
    async read(offset, into) {
      const { bytesRead } = await file.read(into, 0, into.length, offset)
      return bytesRead
    },
    close: () => file.close(),
  }
}

async function createFile(path: string, text: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o644).catch(error => {
    if (codeOf(error) === 'EEXIST') return undefined
    throw isFull(error) ? fullOr(error) : gone(dirname(path))
  })
  if (!file) return false
  try {
    await file.writeFile(text)
  } catch (error) {
    await rm(path, { force: true })
    throw fullOr(error)
  } finally {
    await file.close()
  }
  return true
}

async function replaceFile(path: string, text: string): Promise<boolean> {
  const there = await lstat(path).catch(() => undefined)
  if (!there?.isFile()) return false
  const part = join(dirname(path), partName(basename(path)))
  await rm(part, { force: true })
  try {
    await writeFile(part, text, { flag: 'wx', mode: there.mode })
    // Not limited by the umask.
    await chmod(part, there.mode)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw fullOr(error)
  }
  return true
}

interface Places {
  /** Folders that were made, so that those of discarded files go. */
  made: ReadonlySet<string>
  reserve: (bytes: number) => Promise<void>
  at(path: string): string
  keep(path: string, replaced: ReplacedFile): Promise<void>
}

async function receive(path: string, { at, keep, reserve, made }: Places): Promise<Receiving> {
  const part = join(dirname(path), partName(basename(path)))
  // Removes the rest of a broken transfer. `wx` then follows no link.
  await rm(part, { force: true })
  const file = await open(part, 'wx', 0o644).catch(error => Promise.reject(fullOr(error)))
  const order = inOrder(file, 0, reserve)
  let closed = false
  const close = async () => {
    if (!closed) {
      closed = true
      await file.close()
    }
  }
  return {
    write: bytes => order.write(bytes).catch(error => Promise.reject(fullOr(error))),
    async complete(modified, executable) {
      await file.utimes(modified, modified)
      // Some disks have no modes.
      if (executable) await makeExecutable(file).catch(() => undefined)
      await close()
    },
    async finish(target, replaced) {
      await close()
      // What is lost without it is an older version.
      if (replaced) await keep(target, replaced).catch(() => undefined)
      await rename(part, at(target))
    },
    async discard() {
      await close()
      await rm(part, { force: true })
      let folder = dirname(part)
      while (made.has(folder) && (await isRemovedIfEmpty(folder))) folder = dirname(folder)
    },
  }
}

async function isRemovedIfEmpty(folder: string): Promise<boolean> {
  return await rmdir(folder).then(
    () => true,
    () => false,
  )
}

/** For all who may read it. */
async function makeExecutable(file: FileHandle): Promise<void> {
  const { mode } = await file.stat()
  await file.chmod((mode & 0o777) | ((mode & 0o444) >> 2))
}

function partName(name: string): string {
  return `.${createHash('sha256').update(name).digest('hex').slice(0, 16)}.berth-part`
}

function gone(path: string): BerthError {
  return new BerthError({
    code: 'no_such_folder',
    message: `The folder ${path} can’t be read: it was moved or deleted, or you lack permission.`,
    advice: 'Choose the folder again.',
  })
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(String(codeOf(error)))
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function fullOr(error: unknown): unknown {
  if (!isFull(error)) return error
  return new BerthError({
    code: 'disk_full_here',
    message: 'This computer’s disk is full.',
    advice: 'Free some space, then try again. Files that arrived complete are kept.',
  })
}
