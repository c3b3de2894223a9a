import { isMissing, SftpLost } from './file-problems.ts'
import type { Sftp, Stats } from './sftp.ts'

/** Where a file is put on an instance, and what is there so far. */
export interface Destination {
  path: string
  before: Stats | undefined
}

/** Of a mode: the bits that say who may what, and those among them that lend the rights of the owner. */
const permissions = 0o7777
const lending = 0o6000

/** Links are followed, also to what is not there yet: what they lead to is replaced, and they stay. */
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
 * Gives a file that is written the owner and the mode of the one whose place it takes: Berth writes as root, and what
 * belongs to a user there must not become root's. Where there was none, it gets the mode for a fresh one.
 */
export async function takeAfter(
  sftp: Sftp,
  part: string,
  { before }: Destination,
  fresh: number,
): Promise<void> {
  if (before === undefined) return sftp.setMode(part, fresh)
  const owned = await giveTo(sftp, part, before)
  // After the owner, since a change of that takes bits of the mode with it.
  await sftp.setMode(part, before.mode & permissions & (owned ? ~0 : ~lending))
}

/** Whether it has that owner now. Who is not root there may not give files away, and need not. */
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
