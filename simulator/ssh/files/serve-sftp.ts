import type { Stats } from 'node:fs'
import type { Session, SFTPWrapper } from 'ssh2'
import ssh2 from 'ssh2'
import { attributesOf, wanted } from './attributes.ts'
import { FileRequests } from './file-requests.ts'
import { errorCode, reason, type Scratch } from './scratch.ts'

const { STATUS_CODE } = ssh2.utils.sftp

/** Requests a client may send ahead; OpenSSH's has 64 under way, others a few hundred. */
const mostAhead = 4096

/**
 * Serves SFTP version 3 on the scratch folder. A client may send requests ahead; they run one after another, so that
 * each sees the effects of those before it, and a close follows the last write.
 */
export function serveSftp(session: Session, files: Scratch): void {
  session.on('sftp', accept => {
    const sftp = accept()
    const requests = new FileRequests(files)
    let ahead = 0
    let last = Promise.resolve()
    /** Runs a request in its turn; `work` answers it, or throws the error to answer. */
    const answer = (id: number, work: () => void | Promise<void>) => {
      ahead += 1
      if (ahead > mostAhead) sftp.end()
      last = last.then(async () => {
        try {
          await work()
        } catch (error) {
          sftp.status(id, statusOf(error), reason(error))
        }
        ahead -= 1
      })
    }
    const leave = () => {
      last = last.then(() => requests.closeAll())
      exitWell(sftp)
      sftp.end()
    }
    sftp.once('end', leave)
    sftp.once('close', leave)
    sftp.on('error', () => sftp.end())
    handleRequests(sftp, requests, answer)
  })
}

/** The channel below SFTP, which ssh2 does not declare, and to which it gives no `exit` as it does to others. */
interface ChannelBelow {
  outgoing: { id: number; state: string }
  _protocol: { exitStatus(channel: number, status: number): void }
}

/** Sends the exit status, without which OpenSSH's scp takes what it has copied for failed. */
function exitWell(sftp: SFTPWrapper): void {
  const { outgoing, _protocol: protocol } = sftp as unknown as ChannelBelow
  if (outgoing.state === 'open') protocol.exitStatus(outgoing.id, 0)
}

type Answer = (id: number, work: () => void | Promise<void>) => void

function handleRequests(sftp: SFTPWrapper, requests: FileRequests, answer: Answer): void {
  const done = (id: number) => sftp.status(id, STATUS_CODE.OK)
  const end = (id: number) => sftp.status(id, STATUS_CODE.EOF)
  const attributes = (id: number, stats: Stats) => sftp.attrs(id, attributesOf(stats))
  /** For requests that only answer "done". */
  const simply = (id: number, act: () => void) =>
    answer(id, () => {
      act()
      done(id)
    })
  const oneName = (id: number, filename: string) =>
    sftp.name(id, [
      { filename, longname: filename, attrs: { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 } },
    ])

  sftp.on('OPEN', (id, path, flags, attrs) =>
    answer(id, () => sftp.handle(id, requests.open(path, flags, wanted(attrs)))),
  )
  sftp.on('READ', (id, handle, offset, length) =>
    answer(id, async () => {
      const data = await requests.read(handle, offset, length)
      if (data === undefined) end(id)
      else sftp.data(id, data)
    }),
  )
  sftp.on('WRITE', (id, handle, offset, data) =>
    answer(id, async () => {
      await requests.write(handle, offset, data)
      done(id)
    }),
  )
  sftp.on('OPENDIR', (id, path) => answer(id, () => sftp.handle(id, requests.openFolder(path))))
  sftp.on('READDIR', (id, handle) =>
    answer(id, () => {
      const entries = requests.entries(handle)
      if (entries === undefined) end(id)
      else sftp.name(id, entries)
    }),
  )
  sftp.on('CLOSE', (id, handle) => simply(id, () => requests.close(handle)))
  sftp.on('STAT', (id, path) => answer(id, () => attributes(id, requests.stat(path, 'follow'))))
  sftp.on('LSTAT', (id, path) => answer(id, () => attributes(id, requests.stat(path, 'stay'))))
  sftp.on('FSTAT', (id, handle) => answer(id, () => attributes(id, requests.handleStat(handle))))
  sftp.on('SETSTAT', (id, path, attrs) => simply(id, () => requests.change(path, wanted(attrs))))
  sftp.on('FSETSTAT', (id, handle, attrs) => simply(id, () => requests.handleChange(handle, wanted(attrs))))
  sftp.on('REMOVE', (id, path) => simply(id, () => requests.remove(path)))
  sftp.on('MKDIR', (id, path, attrs) => simply(id, () => requests.makeFolder(path, wanted(attrs))))
  sftp.on('RMDIR', (id, path) => simply(id, () => requests.removeFolder(path)))
  sftp.on('RENAME', (id, from, to) => simply(id, () => requests.rename(from, to)))
  sftp.on('REALPATH', (id, path) => answer(id, () => oneName(id, requests.realPath(path))))
  sftp.on('READLINK', (id, path) => answer(id, () => oneName(id, requests.readLink(path))))
  // ssh2 gives the link first, whatever order the client wrote them in; its types name them the other way round.
  sftp.on('SYMLINK', (id, link, target) => simply(id, () => requests.makeLink(link, target)))
}

function statusOf(error: unknown): number {
  const code = errorCode(error)
  if (code === 'ENOENT') return STATUS_CODE.NO_SUCH_FILE
  if (code === 'EACCES' || code === 'EPERM') return STATUS_CODE.PERMISSION_DENIED
  return STATUS_CODE.FAILURE
}
