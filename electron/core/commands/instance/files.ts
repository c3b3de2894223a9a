import { folderOf, harmless, lastName } from '../../../contract/instance/file-names.ts'
import { BerthError } from '../../../contract/problem.ts'
import type { ChosenItem } from '../../../ports/chosen-files.ts'
import { existing, SftpLost } from '../../../ssh/files/file-problems.ts'
import { remove } from '../../../ssh/files/remove.ts'
import { openSftp, type Sftp } from '../../../ssh/files/sftp.ts'
import { readText, writeText } from '../../../ssh/files/text.ts'
import { downloadJob } from '../../../ssh/files/transfer/download.ts'
import { streamDownloadJob } from '../../../ssh/files/transfer/download-stream.ts'
import type { Job } from '../../../ssh/files/transfer/job.ts'
import { refuseExisting, uploadJob } from '../../../ssh/files/transfer/upload.ts'
import { listFolder } from '../../../ssh/files/walk.ts'
import type { InstanceTarget } from '../../access/enter.ts'
import { Choices } from '../../access/files/choices.ts'
import { pageGoneProblem, pageSources } from '../../access/files/page-sources.ts'
import type { Handlers } from '../../app/page/dispatcher.ts'
import { noteUser, type OnInstance, type Parts, targetOf } from '../parts.ts'

type FileCommands = Pick<
  Handlers,
  | 'listFiles'
  | 'makeFolder'
  | 'renameFile'
  | 'deleteFiles'
  | 'readTextFile'
  | 'writeTextFile'
  | 'chooseFiles'
  | 'chooseFolder'
  | 'uploadChosen'
  | 'uploadFromPage'
  | 'download'
  | 'pauseFileTransfer'
  | 'resumeFileTransfer'
  | 'cancelFileTransfer'
  | 'dismissFileTransfer'
>

export function fileCommands(parts: Parts): FileCommands {
  const { access, folders, machine, fileTransfers: transfers } = parts
  const { platform } = machine
  const items = new Choices<readonly ChosenItem[]>(machine.random)

  /** Does something over SFTP; once more where the connection turns out to be gone. */
  async function on<Got>(args: OnInstance, work: (sftp: Sftp) => Promise<Got>): Promise<Got> {
    const target = targetOf(parts, args)
    try {
      return await once(target, work)
    } catch (error) {
      if (!(error instanceof SftpLost)) throw error
    }
    return once(target, work).catch(error => {
      throw error instanceof SftpLost ? connectionGone() : error
    })
  }

  async function once<Got>(target: InstanceTarget, work: (sftp: Sftp) => Promise<Got>): Promise<Got> {
    const lease = await access.connect(target)
    let sftp: Sftp | undefined
    try {
      sftp = await openSftp(lease.connection)
      return await work(sftp)
    } finally {
      sftp?.end()
      // The next thing asked finds it open.
      machine.clock.after(keepOpen, lease.release)
    }
  }

  function begin(
    args: OnInstance,
    direction: 'up' | 'down',
    folder: string,
    names: readonly string[],
    job: (changed: () => void) => Job,
  ) {
    const target = targetOf(parts, args)
    const [first = ''] = names
    let changed: () => void = () => undefined
    const made = job(() => changed())
    const begun = transfers.start({
      target,
      direction,
      folder,
      name: names.length === 1 ? first : `${names.length} items`,
      job: made,
      // Found anew each time: its address may have changed, or it may be gone.
      connect: () =>
        access.connect(targetOf(parts, { account: target.account, instance: target.instance.id })),
    })
    changed = () => transfers.progressed(begun.id)
    return begun
  }

  const found = ({ account, transfer }: { account?: string; transfer: string }) =>
    transfers.find(parts.accounts.session(account).id, transfer)

  return {
    listFiles: ({ path = '.', ...args }) => on(args, sftp => listFolder(sftp, path)),
    makeFolder: ({ path, ...args }) =>
      on(args, async sftp => {
        await refuseExisting(sftp, folderOf(path), [lastName(path)])
        await sftp.makeFolder(path)
      }),
    renameFile: ({ from, to, ...args }) =>
      on(args, async sftp => {
        await refuseExisting(sftp, folderOf(to), [lastName(to)])
        await sftp.rename(from, to)
      }),
    async deleteFiles({ paths, ...args }) {
      const { account, instance } = targetOf(parts, args)
      await on(args, async sftp => {
        for (const path of paths) await remove(sftp, path)
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

    async chooseFiles({ what }) {
      if (!machine.fileDialogs) throw noDialog()
      const { chooseFiles, chooseFolders } = machine.fileDialogs
      const chosen = await (what === 'files' ? chooseFiles() : chooseFolders())
      if (chosen.length === 0) return undefined
      return { choice: items.keep(chosen), names: chosen.map(({ name }) => name) }
    },
    async chooseFolder() {
      if (!machine.fileDialogs) throw noDialog()
      const folder = await machine.fileDialogs.chooseTarget()
      return folder && { choice: folders.keep(folder), name: folder.name }
    },
    async uploadChosen({ folder, choice, replace, ...args }) {
      const chosen = items.get(choice)
      if (!replace)
        await on(args, sftp =>
          refuseExisting(
            sftp,
            folder,
            chosen.map(({ name }) => name),
          ),
        )
      const { id } = begin(
        args,
        'up',
        folder,
        chosen.map(({ name }) => name),
        changed => uploadJob({ folder, list: () => listAll(chosen), replace, changed }),
      )
      items.forget(choice)
      return id
    },
    async uploadFromPage({ folder, files, folders: made, replace, ...args }, { streams }) {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'Only a page has files to send.' })
      const tops = [...new Set([...made, ...files.map(({ path }) => path)].map(([top = '']) => top))]
      if (tops.length === 0)
        throw new BerthError({ code: 'nothing_chosen', message: 'There is nothing to send.' })
      if (!replace) await on(args, sftp => refuseExisting(sftp, folder, tops))
      const sources = pageSources(files)
      const list = async () => ({ folders: made, files: sources.files, leftOut: 0 })
      const { id, transfer } = begin(args, 'up', folder, tops, changed =>
        uploadJob({ folder, list, replace, changed }),
      )
      void sources.gone.then(() => transfer.breakOff(pageGoneProblem))
      void transfer.whenEnded.then(() => sources.stream.destroy())
      return { transfer: id, stream: streams.open(sources.stream) }
    },
    async download({ paths, into, ...args }) {
      const names = paths.map(lastName)
      const folder = folderOf(paths[0] ?? '/')
      if (into !== undefined) {
        const target = folders.get(into)
        const { id } = begin(args, 'down', folder, names, changed =>
          downloadJob({ paths, into: target, system: platform, changed }),
        )
        folders.forget(into)
        return { transfer: id }
      }
      const { browserDownloads } = machine
      if (!browserDownloads) throw noDialog()
      let job: ReturnType<typeof streamDownloadJob> | undefined
      const { id, transfer } = begin(args, 'down', folder, names, changed => {
        job = streamDownloadJob({ paths, system: platform, changed })
        return job
      })
      if (!job) throw new Error('begun without a job')
      const { announced, serve } = job
      const ready = await Promise.race([announced, transfer.whenEnded.then(() => undefined)])
      if (!ready)
        throw new BerthError(transfer.view().problem ?? { code: 'cancelled', message: 'It was cancelled.' })
      const address = browserDownloads.offer({
        ...ready,
        serve(sink) {
          sink.onLeave = () => transfer.breakOff(browserLeft)
          serve(sink)
        },
        unused: () => transfer.breakOff(notFetched),
      })
      return { transfer: id, address }
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

/** Milliseconds for which a connection is kept that nobody uses. */
const keepOpen = 30_000

async function listAll(chosen: readonly ChosenItem[]) {
  const lists = await Promise.all(chosen.map(item => item.list()))
  const names = chosen.map(({ name }) => name)
  const twice = names.filter((name, at) => names.indexOf(name) !== at)
  if (twice.length > 0) throw existing(twice)
  return {
    folders: lists.flatMap(({ folders }) => folders),
    files: lists.flatMap(({ files }) => files),
    leftOut: lists.reduce((sum, { leftOut }) => sum + leftOut, 0),
  }
}

function noDialog(): BerthError {
  return new BerthError({
    code: 'no_dialog',
    message: 'This way of running Berth has no dialog for files.',
    advice: 'The browser has its own: use that.',
  })
}

function connectionGone(): BerthError {
  return new BerthError({
    code: 'ssh_closed',
    message: 'The connection to the instance was lost.',
    advice: 'Try again.',
  })
}

const browserLeft = {
  code: 'browser_left',
  message: 'The browser broke the download off.',
  advice: 'Start it again; the browser keeps no part of it.',
}
const notFetched = {
  code: 'browser_left',
  message: 'The browser did not come for the download within a minute.',
  advice: 'Allow downloads for this page, then try again.',
}
