import { createHash } from 'node:crypto'
import { folderOf, joined, lastName } from '#shared/instance/file-names.ts'
import { isMissing, SftpLost } from './file-problems.ts'
import type { Sftp, Stats } from './sftp.ts'

/** The path of a file to be written on an instance, and the stats of an existing file there. */
export interface Destination {
  path: string
  before: Stats | undefined
}

/** The permission bits of a mode, and the setuid and setgid bits among them. */
const permissions = 0o7777
const lending = 0o6000

/** Follows links, also to a target that does not exist yet: the target is replaced, and the link stays. */
export async function destinationOf(sftp: Sftp, path: string): Promise<Destination> {
  const unlessMissing = (error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  }
  const [before, real] = await Promise.all([
    sftp.stat(path).catch(unlessMissing),
    sftp.realPath(path).catch(unlessMissing),
  ])
  return { path: real ?? path, before }
}

/**
 * The temporary path of a file while it is written, next to its own: the same for a name and version, so that the next
 * try writes over what a lost connection left there, and two writers of one path write the same.
 */
export function partOf(path: string, version: string): string {
  const key = createHash('sha256')
    .update(`${lastName(path)}/${version}`)
    .digest('hex')
    .slice(0, 16)
  return joined(folderOf(path), `.${key}.berth-part`)
}

/**
 * Gives a written file the owner and the mode of the file that it replaces: Berth writes as root, and a user's file
 * must not become root's. If there is no such file, sets the mode `fresh`.
 */
export async function takeAfter(
  sftp: Sftp,
  part: string,
  { before }: Destination,
  fresh: number,
): Promise<void> {
  if (before === undefined) return sftp.setMode(part, fresh)
  const owned = await giveTo(sftp, part, before)
  // The mode comes after the owner, since changing the owner clears bits of the mode.
  await sftp.setMode(part, before.mode & permissions & (owned ? ~0 : ~lending))
}

/** Sets the owner; false if the server refuses, as it does to users other than root. */
async function giveTo(sftp: Sftp, part: string, { owner }: Stats): Promise<boolean> {
  if (owner === undefined) return false
  try {
    await sftp.setOwner(part, owner)
    return true
  } catch (error) {
    if (error instanceof SftpLost) throw error
    return false
  }
}

/** Whether there is anything at the path, a link included. */
export async function isThere(sftp: Sftp, path: string): Promise<boolean> {
  try {
    await sftp.linkStat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
