import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, open, readlink, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { readOwnFile } from '#platform/own-file.ts'
import { BerthError, type Problem } from '#shared/problem.ts'

/** The user's own `~/.ssh/config`, with one line of Berth's in it. */
export interface UserConfig {
  /**
   * Adds the line that includes a file; returns the created parts. Throws `ssh_config_path` or
   * `ssh_config_not_written`.
   */
  include(path: string): Promise<EditedConfig>
  /** Whether the line is still there: the user may have removed it. Throws `ssh_config_path`. */
  includes(path: string): Promise<boolean>
  /** Removes the line, and the file and folder that Berth created if they are empty. Throws as `include` does. */
  exclude(path: string, made: EditedConfig): Promise<void>
}

/** Whether Berth created the file and the folder, since they did not exist. */
export interface EditedConfig {
  file: boolean
  folder: boolean
}

export function userConfig(home: string): UserConfig {
  const folder = join(home, '.ssh')
  const path = join(folder, 'config')

  return {
    async include(included) {
      const line = asBytes(includeLine(included))
      const made = { file: false, folder: !(await isThere(folder)) }
      await edit(path, line, text => {
        made.file = text === undefined
        return withLine(text ?? '', line)
      })
      return made
    },
    async includes(included) {
      const text = await readConfig(path).catch(() => '')
      return hasLine(text, asBytes(includeLine(included)))
    },
    async exclude(included, made) {
      const line = asBytes(includeLine(included))
      await edit(path, line, text => {
        const rest = text === undefined ? undefined : withoutLine(text, line)
        return rest === '' && made.file ? undefined : rest
      })
      // Fails if the folder is not empty.
      if (made.folder) await rmdir(folder).catch(() => undefined)
    },
  }
}

async function edit(
  path: string,
  line: string,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  try {
    await editInPlace(path, change)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new BerthError({
      code: 'ssh_config_not_written',
      message:
        error instanceof FileBusy
          ? `${path} kept changing while Berth edited it, so it was left alone.`
          : `${path} could not be written${reason}, so it was left as it is.`,
      advice: 'Edit it by hand if another program keeps it: the line is shown below.',
      facts: { line: Buffer.from(line, 'latin1').toString('utf8') },
    })
  }
}

/** Bytes of a config, at most. */
const longest = 16 * 1024 * 1024

function readConfig(path: string): Promise<string> {
  return readOwnFile(path, longest, 'latin1')
}

/** UTF-8 bytes as latin1 text, which is how `editInPlace` reads the file. */
function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/**
 * The line that makes ssh read another file. Throws `ssh_config_path` for a path that ssh would not read literally:
 * newer versions expand percent and dollar signs in it.
 */
function includeLine(path: string): string {
  const plain = path.replaceAll('\\', '/')
  if (/[%$"\p{Cc}]/u.test(plain)) throw new BerthError(unusablePath(path))
  // ssh reads the quoted text as a glob pattern.
  return `Include "${plain.replaceAll(/[*?[\]]/g, '\\$&')}"`
}

/** Puts the line at the top, unless it is there: below a `Host`, it would apply to that host alone. */
function withLine(config: string, line: string): string {
  const [first = ''] = config.split('\n', 1)
  return first.replace(/\r$/, '') === line ? config : `${line}\n${config}`
}

/** Whether the line is anywhere in the config. */
function hasLine(config: string, line: string): boolean {
  return config.split('\n').some(one => one.trim() === line)
}

/** Removes the line wherever it is, and leaves every other byte as it is. */
function withoutLine(config: string, line: string): string {
  return config
    .split(/(?<=\n)/)
    .filter(one => one.trim() !== line)
    .join('')
}

const unusablePath = (path: string): Problem => ({
  code: 'ssh_config_path',
  message: `The folder of Berth’s files, in ${path}, has special characters in its name that ssh would misread.`,
  advice: 'Move it to a folder without %, $ or quotes in its name (BERTH_HOME).',
})

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
    const [text, { mode, uid, gid }] = await Promise.all([readConfig(target), stat(target)])
    return { text, mode: mode & 0o7777, uid, gid }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function same(one: Found | undefined, other: Found | undefined): boolean {
  return one?.text === other?.text && one?.mode === other?.mode
}
