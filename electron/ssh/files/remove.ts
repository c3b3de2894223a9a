import { checkedName, harmless, joined } from '../../contract/instance/file-names.ts'
import { isUnreadable } from '../../contract/instance/files.ts'
import { BerthError } from '../../contract/problem.ts'
import { unreadableName } from './file-problems.ts'
import type { Sftp } from './sftp.ts'
import { kindOf } from './walk.ts'

const mostEntries = 200_000

/** Deletes what is at a path: a folder with all that is in it, of a link the link alone. Never `/`. */
export async function remove(sftp: Sftp, path: string): Promise<void> {
  const { mode } = await sftp.linkStat(path)
  if (kindOf(mode) !== 'folder') return sftp.remove(path)
  // The disk goes by many names, such as `/workspace/..`.
  if ((await sftp.realPath(path)) === '/')
    throw new BerthError({ code: 'file_denied', message: 'Berth does not delete the whole disk.' })
  await removeFolder(sftp, path)
}

async function removeFolder(sftp: Sftp, path: string): Promise<void> {
  const { entries } = await sftp.list(path, mostEntries)
  for (const { filename, attrs } of entries) {
    if (filename === '.' || filename === '..') continue
    // What is no name could lead out of the folder.
    if (checkedName(filename) === undefined)
      throw new BerthError({
        code: 'file_failed',
        message: `The instance lists “${harmless(filename)}” in ${harmless(path)}, which is no name of a file.`,
      })
    if (isUnreadable(filename)) throw unreadableName()
    const inner = joined(path, filename)
    if (kindOf(attrs.mode) === 'folder') await removeFolder(sftp, inner)
    else await sftp.remove(inner)
  }
  await sftp.removeFolder(path)
}
