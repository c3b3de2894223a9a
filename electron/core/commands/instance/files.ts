import { folderOf, harmless, lastName } from '#contract/instance/file-names.ts'
import type { Handlers } from '#core/app/page/dispatcher.ts'
import { isThere } from '#ssh/files/destination.ts'
import { remove } from '#ssh/files/remove.ts'
import { readText, writeText } from '#ssh/files/text.ts'
import { makeFolder, refuseExisting } from '#ssh/files/transfer/upload.ts'
import { listFolder } from '#ssh/files/walk.ts'
import { noteUser, type Parts, targetOf } from '../parts.ts'
import { type FileTransferCommands, fileTransferCommands } from './file-transfers.ts'
import { createOverSftp } from './over-sftp.ts'

type FileCommands = FileTransferCommands &
  Pick<Handlers, 'listFiles' | 'makeFolder' | 'renameFile' | 'deleteFiles' | 'readTextFile' | 'writeTextFile'>

export function fileHandlers(parts: Parts): FileCommands {
  const on = createOverSftp(parts)

  return {
    listFiles: ({ path = '.', ...args }) => on(args, sftp => listFolder(sftp, path)),
    makeFolder({ path, ...args }) {
      let asked = false
      return on(args, async sftp => {
        if (!asked) await refuseExisting(sftp, folderOf(path), [lastName(path)])
        asked = true
        await makeFolder(sftp, path)
      })
    },
    renameFile({ from, to, ...args }) {
      let asked = false
      return on(args, async sftp => {
        if (asked && (await isThere(sftp, to))) return
        await refuseExisting(sftp, folderOf(to), [lastName(to)])
        asked = true
        await sftp.rename(from, to)
      })
    },
    async deleteFiles({ paths, ...args }) {
      const { account, instance } = targetOf(parts, args)
      let asked = false
      await on(args, async sftp => {
        const again = asked
        asked = true
        for (const path of paths) if (!again || (await isThere(sftp, path))) await remove(sftp, path)
      })
      noteUser(parts, account, 'Deleted files on', instance, paths.slice(0, 10).map(harmless).join(', '))
    },
    readTextFile: ({ path, ...args }) => on(args, sftp => readText(sftp, path)),
    async writeTextFile({ path, text, version, ...args }) {
      const { account, instance } = targetOf(parts, args)
      const written = await on(args, sftp => writeText(sftp, path, text, version))
      noteUser(parts, account, 'Edited a file on', instance, harmless(path))
      return written
    },
    ...fileTransferCommands(parts, on),
  }
}
