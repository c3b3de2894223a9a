import { type Headers, type Pack, pack as tarPack } from 'tar-stream'
import type { FileFacts, SyncedFolder } from '#platform/folders.ts'
import type { Clock } from '#platform/platform.ts'
import type { Skipped } from '#shared/instance/sync.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { noShell } from './listing.ts'
import type { UpPlan } from './plan.ts'
import { type LocalFile, wholeName } from './scan.ts'
import { openScript, type ScriptStream } from './script-stream.ts'
import { takeScript } from './scripts.ts'
import { changedMeanwhile, diskFull, syncFailed, syncRefused } from './sync-problems.ts'

export interface FolderSending {
  folder: SyncedFolder
  remote: string
  clock: Clock
  signal: AbortSignal
  /** Called with the number of bytes and of complete files that were sent since the last call. */
  onSent(bytes: number, files: number): void
}

/** Files of up to this many bytes are read whole, larger ones in pieces of this size. */
const piece = 512 * 1024
/** Bytes that are collected for one write. */
const together = 128 * 1024
/** Seconds after a change in which a second change may not show in the file's time. */
const mayChangeFor = 2
/** The latest time that an archive can hold, epoch seconds. */
const latest = 0x7f_ff_ff_ff
/** The most characters of the script's answer. */
const longestAnswer = 1000

/** Sends the planned files as one archive, and waits until all are in place. Returns those that cannot be read. */
export async function send(connection: Connection, plan: UpPlan, sending: FolderSending): Promise<Skipped[]> {
  const { remote, clock, signal } = sending
  const values = { remote, fresh: plan.resumes ? '' : 'yes', whole: wholeName }
  const stream = await openScript(connection, clock, values, takeScript)
  const answer = answerOf(stream)
  // Awaited later; until then, this prevents an unhandled rejection.
  answer.catch(() => undefined)
  const archive = tarPack()
  const leave = () => stream.close()
  signal.addEventListener('abort', leave, { once: true })
  try {
    signal.throwIfAborted()
    const skipped = await bothEnded(fill(archive, plan, sending), pour(archive, stream))
    refuseUnlessDone(await answer, remote)
    return skipped
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BerthError && error.problem.code === 'ssh_closed') {
      // The script may have exited on its own, with an answer that says why.
      refuseUnlessDone(await answer, remote)
    }
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
    archive.destroy()
    stream.close()
  }
}

/** Waits for both. The error of pouring comes first: it closes the archive, and so makes filling fail too. */
async function bothEnded<Result>(filling: Promise<Result>, pouring: Promise<void>): Promise<Result> {
  const [filled, poured] = await Promise.allSettled([filling, pouring])
  if (poured.status === 'rejected') throw poured.reason
  if (filled.status === 'rejected') throw filled.reason
  return filled.value
}

async function answerOf(stream: ScriptStream): Promise<string> {
  let text = ''
  let tooLong: () => void = () => undefined
  const talking = new Promise<void>(resolve => {
    tooLong = resolve
  })
  stream.output.on('data', (chunk: Buffer) => {
    stream.heard()
    if (text.length < longestAnswer) text += chunk.toString('utf8')
    if (text.length >= longestAnswer) tooLong()
  })
  await Promise.race([stream.ended, talking])
  return text
}

function refuseUnlessDone(answer: string, remote: string): void {
  const [word] = answer.trim().split(' ')
  if (word === 'done') return
  if (word === 'full') throw diskFull(remote)
  if (word === 'refused') throw syncRefused(remote)
  if (word === 'failed' || word === 'unplaced' || word === 'broken')
    throw syncFailed(remote, answer.replace(/^\S+\s*/, ''))
  throw new BerthError(noShell)
}

/** Copies the archive to the instance, with back-pressure. */
async function pour(archive: Pack, stream: ScriptStream): Promise<void> {
  let waiting: Buffer[] = []
  let length = 0
  const flush = async () => {
    const bytes = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting)
    waiting = []
    length = 0
    if (bytes !== undefined) await stream.write(bytes)
  }
  try {
    for await (const chunk of archive) {
      waiting.push(chunk)
      length += chunk.length
      if (length >= together) await flush()
    }
    await flush()
    stream.end()
  } catch (error) {
    archive.destroy(error instanceof Error ? error : undefined)
    throw error
  }
}

async function fill(
  archive: Pack,
  { folders, links, files }: UpPlan,
  { folder, clock, signal, onSent }: FolderSending,
): Promise<Skipped[]> {
  const skipped: Skipped[] = []
  const failed = new Promise<never>((_, reject) => {
    archive.once('close', () => reject(new Error('the archive was closed')))
  })
  failed.catch(() => undefined)
  const add = (header: Headers, bytes: Buffer = Buffer.alloc(0)) =>
    Promise.race([failed, new Promise<void>(resolve => archive.entry(header, bytes, () => resolve()))])

  async function addLarge(file: LocalFile): Promise<void> {
    const open = await folder.open(file.path)
    if (open === undefined) {
      skipped.push({ path: file.path, why: 'unreadable' })
      return
    }
    try {
      const sink = archive.entry(headerOf(file.path, open, clock.now() / 1000))
      sink.on('error', () => undefined)
      for (let at = 0; at < open.size; ) {
        const bytes = Buffer.allocUnsafe(Math.min(piece, open.size - at))
        const read = await open.read(at, bytes)
        if (read === 0) throw changedMeanwhile(file.path)
        if (!sink.write(bytes.subarray(0, read)))
          await Promise.race([failed, new Promise<void>(resolve => sink.once('drain', resolve))])
        at += read
        onSent(read, 0)
        signal.throwIfAborted()
      }
      const finished = new Promise<void>(resolve => sink.once('finish', resolve))
      sink.end()
      await Promise.race([failed, finished])
      onSent(0, 1)
    } finally {
      await open.close().catch(() => undefined)
    }
  }

  try {
    for (const path of folders) await add({ name: `${path}/`, type: 'directory', mode: 0o755 })
    for (const { path, target } of links) {
      await add({ name: path, type: 'symlink', linkname: target })
      onSent(0, 1)
    }
    for (const file of files) {
      signal.throwIfAborted()
      const content = await folder.read(file.path, piece)
      if (content === undefined) await addLarge(file)
      else {
        await add(headerOf(file.path, content, clock.now() / 1000), content.bytes)
        onSent(content.bytes.length, 1)
      }
    }
    await add({ name: wholeName, mode: 0o600 })
    archive.finalize()
    return skipped
  } catch (error) {
    archive.destroy(error instanceof Error ? error : undefined)
    throw error
  }
}

/**
 * A file that was changed a moment ago may change again within the same second. It is sent with a time one second
 * older, so that the next sync sends it again.
 */
function headerOf(path: string, { size, modified, executable }: FileFacts, now: number): Headers {
  const isOld = Math.abs(now - modified) > mayChangeFor
  const seconds = Math.max(0, Math.min(Math.floor(modified) - (isOld ? 0 : 1), latest))
  return { name: path, size, mode: executable ? 0o755 : 0o644, mtime: new Date(seconds * 1000) }
}
