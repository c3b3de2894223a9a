import type { ChosenItem, Source, SourceList, SyncedFolders } from '#platform/folders.ts'
import { folderOf, harmless, lastName } from '#shared/instance/file-names.ts'
import { planUpload } from '#shared/instance/upload-plan.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { isConnectionFull } from '#ssh/connection/ssh-problems.ts'
import { isThere } from '#ssh/files/destination.ts'
import { existing, SftpLost } from '#ssh/files/file-problems.ts'
import { remove } from '#ssh/files/remove.ts'
import type { Sftp } from '#ssh/files/sftp.ts'
import { readRemoteText, writeText } from '#ssh/files/text.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import type { TransferJob } from '#ssh/files/transfer/job.ts'
import { makeFolder, refuseExisting, uploadJob } from '#ssh/files/transfer/upload.ts'
import { listFolder } from '#ssh/files/walk.ts'
import type { InstanceTarget } from '../access/connect-with-key.ts'
import type { RestartInfo } from '../access/file-transfer.ts'
import type { LostTransfer } from '../access/file-transfers.ts'
import { pageGoneProblem, pageSources } from '../access/page-sources.ts'
import { rulesIn, rulesInPage } from '../access/upload-rules.ts'
import type { Handlers } from '../bridge/dispatcher.ts'
import { ChosenFiles, noteUser, type OnInstance, type Services, targetOf } from './services.ts'

type FileCommands = FileTransferCommands &
  Pick<Handlers, 'listFiles' | 'makeFolder' | 'renameFile' | 'deleteFiles' | 'readTextFile' | 'writeTextFile'>

export function fileHandlers(parts: Services): FileCommands {
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
    readTextFile: ({ path, ...args }) => on(args, sftp => readRemoteText(sftp, path)),
    async writeTextFile({ path, text, version, ...args }) {
      const { account, instance } = targetOf(parts, args)
      const written = await on(args, sftp => writeText(sftp, path, text, version))
      noteUser(parts, account, 'Edited a file on', instance, harmless(path))
      return written
    },
    ...fileTransferCommands(parts, on),
  }
}

type FileTransferCommands = Pick<
  Handlers,
  | 'chooseFiles'
  | 'chooseFolder'
  | 'uploadChosen'
  | 'rulesInPage'
  | 'uploadFromPage'
  | 'download'
  | 'pauseFileTransfer'
  | 'resumeFileTransfer'
  | 'cancelFileTransfer'
  | 'dismissFileTransfer'
>

/** Commands that choose, upload and download files, and that control transfers under way. */
function fileTransferCommands(parts: Services, on: OverSftp): FileTransferCommands {
  const { folders, platform, fileTransfers: transfers } = parts
  const system = platform.os
  const items = new ChosenFiles<readonly ChosenItem[]>(platform.random)

  /** Offers a download to the browser; gives its address once its name is known. */
  async function downloadByBrowser(args: OnInstance, paths: readonly string[]) {
    if (!platform.browserDownloads) throw new BerthError(noDialog)
    const { streamDownloadJob } = await import('#ssh/files/transfer/download-stream.ts')
    const { id, transfer, job } = begin(parts, args, {
      ...fromPaths(paths),
      make: changed => streamDownloadJob({ paths, system, changed }),
    })
    const ready = await Promise.race([job.announced, transfer.whenEnded.then(() => undefined)])
    if (!ready)
      throw new BerthError(transfer.view().problem ?? { code: 'cancelled', message: 'It was cancelled.' })
    const address = platform.browserDownloads.offer({
      ...ready,
      serve(sink) {
        sink.onLeave = () => transfer.breakOff(browserLeft)
        job.serve(sink)
      },
      unused: () => transfer.breakOff(notFetched),
    })
    return { transfer: id, address }
  }

  const found = ({ account, transfer }: { account?: string; transfer: string }) =>
    transfers.find(parts.accounts.session(account).id, transfer)

  return {
    async chooseFiles({ what }) {
      if (!platform.fileDialogs) throw new BerthError(noDialog)
      const { chooseFiles, chooseFolders } = platform.fileDialogs
      const chosen = await (what === 'files' ? chooseFiles() : chooseFolders())
      if (chosen.length === 0) return undefined
      const choice = items.keep(chosen)
      const names = chosen.map(({ name }) => name)
      return what === 'files'
        ? { choice, names }
        : { choice, names, plan: (await listAll(chosen, platform.syncedFolders)).plan }
    },
    async chooseFolder() {
      if (!platform.fileDialogs) throw new BerthError(noDialog)
      const folder = await platform.fileDialogs.chooseTarget()
      return folder && { choice: folders.keep(folder), name: folder.name }
    },
    async uploadChosen({ folder, choice, replace, confirmed = [], whole = false, ...args }) {
      const chosen = items.get(choice)
      const names = chosen.map(({ name }) => name)
      if (!replace) await on(args, sftp => refuseExisting(sftp, folder, names))
      const again = { items: chosen.map(({ path }) => path), replace, confirmed, whole }
      const make = makeAgain(parts, { folder, again })
      const { id } = begin(parts, args, { direction: 'up', folder, names, again, make })
      items.forget(choice)
      return id
    },
    rulesInPage: asked => rulesInPage(asked, system !== 'linux'),
    async uploadFromPage({ folder, files, folders: made, replace, ...args }, { streams }) {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'Only a page has files to send.' })
      const tops = [...new Set([...made, ...files.map(({ path }) => path)].map(([top = '']) => top))]
      if (tops.length === 0)
        throw new BerthError({ code: 'nothing_chosen', message: 'There is nothing to send.' })
      if (!replace) await on(args, sftp => refuseExisting(sftp, folder, tops, true))
      const sources = pageSources(files)
      const list = async () => ({ folders: made, files: sources.files, leftOut: 0 })
      const { id, transfer } = begin(parts, args, {
        direction: 'up',
        folder,
        names: tops,
        make: changed => uploadJob({ folder, list, replace, changed }),
      })
      void sources.gone.then(() => transfer.breakOff(pageGoneProblem))
      void transfer.whenEnded.then(() => sources.stream.destroy())
      return { transfer: id, stream: streams.open(sources.stream) }
    },
    async download({ paths, into, ...args }) {
      if (into === undefined) return downloadByBrowser(args, paths)
      const again = { paths, into: folders.get(into).path }
      const from = fromPaths(paths)
      const { id } = begin(parts, args, { ...from, again, make: makeAgain(parts, { ...from, again }) })
      folders.forget(into)
      return { transfer: id }
    },
    async pauseFileTransfer(args) {
      found(args).pause()
    },
    async resumeFileTransfer(args) {
      found(args).resume()
    },
    cancelFileTransfer: args => found(args).cancel(),
    async dismissFileTransfer({ account, transfer }) {
      transfers.dismiss(parts.accounts.session(account).id, transfer)
    },
  }
}

interface ToBegin<Made extends TransferJob> {
  direction: 'up' | 'down'
  folder: string
  names: readonly string[]
  again?: RestartInfo
  make(changed: () => void): Made
}

function begin<Made extends TransferJob>(
  parts: Services,
  args: OnInstance,
  { names, ...wanted }: ToBegin<Made>,
) {
  const target = targetOf(parts, args)
  const [first = ''] = names
  return parts.fileTransfers.start({
    ...wanted,
    target,
    name: names.length === 1 ? first : `${names.length} items`,
    connect: connecting(parts, { account: target.account, instance: target.instance.id }),
  })
}

/** The instance is looked up each time: its address may have changed, or it may be gone. */
const connecting = (parts: Services, on: OnInstance) => () => parts.access.connect(targetOf(parts, on))

const fromPaths = (paths: readonly string[]) => ({
  direction: 'down' as const,
  folder: folderOf(paths[0] ?? '/'),
  names: paths.map(lastName),
})

/** How a transfer that an earlier Berth began can begin again; undefined where it cannot. */
export function beginAgain(parts: Services, { account, instance, folder, again }: LostTransfer) {
  if (!again || !parts.platform.fileDialogs) return undefined
  return {
    make: makeAgain(parts, { folder, again }, true),
    connect: connecting(parts, { account, instance }),
  }
}

function makeAgain(
  { platform: { fileDialogs, syncedFolders, os: system } }: Services,
  { folder, again }: { folder: string; again: RestartInfo },
  begun = false,
): (changed: () => void) => TransferJob {
  if (!fileDialogs) throw new BerthError(noDialog)
  if ('paths' in again) {
    const into = fileDialogs.folderAt(again.into)
    return changed => downloadJob({ paths: again.paths, into, system, changed })
  }
  const { items, replace, ...choice } = again
  const { itemAt } = fileDialogs
  async function list(): Promise<SourceList> {
    const all = await listAll(items.map(itemAt), syncedFolders)
    const files = all.filesOf(choice)
    return {
      folders: all.folders.filter(path => all.hasFolder(path, choice)),
      files,
      leftOut: all.leftOut + all.files.length - files.length,
    }
  }
  return changed => uploadJob({ folder, list, replace, begun, changed })
}

/** All files in the selection, and those that are sent. Throws also as `readTree` does. */
async function listAll(chosen: readonly ChosenItem[], synced: SyncedFolders) {
  const names = chosen.map(({ name }) => name)
  const twice = names.filter((name, at) => names.indexOf(name) !== at)
  if (twice.length > 0) throw existing(twice, false)
  const lists = await Promise.all(chosen.map(item => item.list()))
  const rules = await Promise.all(
    chosen.map(({ path, name }, at) =>
      lists[at]?.folders.length === 0 ? undefined : rulesIn(name, synced.at(path)),
    ),
  )
  const files = lists.flatMap(list => list.files)
  return {
    folders: lists.flatMap(({ folders }) => folders),
    files,
    leftOut: lists.reduce((sum, { leftOut }) => sum + leftOut, 0),
    ...(await planUpload(
      files,
      {
        ignored: rules.flatMap(found => found?.ignored ?? []),
        linkedRules: rules.flatMap(found => found?.linkedRules ?? []),
      },
      textOf,
    )),
  }
}

/** The bytes of a small file as Latin-1; undefined if it can't be read. */
async function textOf(file: Source): Promise<string | undefined> {
  const open = await file.open().catch(() => undefined)
  if (!open) return undefined
  try {
    const bytes = Buffer.alloc(file.size)
    return bytes.toString('latin1', 0, await open.read(0, bytes))
  } catch {
    return undefined
  } finally {
    await open.close()
  }
}

const noDialog: Problem = {
  code: 'no_dialog',
  message: 'There’s no file dialog in browser mode.',
  advice: 'Use the browser’s own.',
}

const browserLeft = {
  code: 'browser_left',
  message: 'The browser cancelled the download.',
  advice: 'Start it again. The browser keeps no partial file.',
}
const notFetched = {
  code: 'browser_left',
  message: 'The browser didn’t start the download within a minute.',
  advice: 'Allow downloads for this page, then try again.',
}

/**
 * Runs work over SFTP, and repeats it once where the connection turns out to be lost, or to take no further session:
 * the work must tolerate that its requests were already carried out.
 */
type OverSftp = <Got>(args: OnInstance, work: (sftp: Sftp) => Promise<Got>) => Promise<Got>

/** Milliseconds to keep an unused connection open. */
const keepOpen = 30_000

function createOverSftp(parts: Services): OverSftp {
  const { access, platform } = parts

  async function once<Got>(target: InstanceTarget, work: (sftp: Sftp) => Promise<Got>): Promise<Got> {
    const { openSftp } = await import('#ssh/files/sftp.ts')
    const lease = await access.connect(target)
    let sftp: Sftp | undefined
    try {
      sftp = await openSftp(lease.connection, platform.clock)
      return await work(sftp)
    } finally {
      sftp?.end()
      // The next command then finds it open.
      platform.clock.after(keepOpen, lease.release)
    }
  }

  return async (args, work) => {
    const target = targetOf(parts, args)
    try {
      return await once(target, work)
    } catch (error) {
      if (!(error instanceof SftpLost) && !isConnectionFull(error)) throw error
    }
    return once(target, work).catch(error => {
      throw error instanceof SftpLost ? new BerthError(connectionGone) : error
    })
  }
}

const connectionGone: Problem = {
  code: 'ssh_closed',
  message: 'The connection to the instance was lost.',
  advice: 'Try again.',
}
