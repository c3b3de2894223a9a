import { type Pack, pack as tarPack } from 'tar-stream'
import type { ByteSink } from '#platform/folders.ts'
import { deferred } from '#platform/tasks.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Sftp } from '../sftp.ts'
import { fileKindOf, type RemoteFile, walk } from '../walk.ts'
import { copyDown } from './copying.ts'
import { createTally, type Tally, type TransferJob } from './job.ts'
import { LocalNames, type NamesOf } from './local-names.ts'

export interface StreamDownload {
  /** Paths on the instance. */
  paths: readonly string[]
  system: NamesOf
  changed(): void
}

/** The name and size that the browser gets before the first byte. */
export interface Announced {
  name: string
  /** Bytes; undefined for an archive. */
  size?: number
}

export interface StreamDownloadJob extends TransferJob {
  /** Resolves once the files to send are listed. */
  readonly announced: Promise<Announced>
  /** Called when the browser requests the download, with the stream to it. */
  serve(sink: ByteSink): void
}

/**
 * Streams a file, or several files and folders as a tar archive, to a browser, which saves it where the user wants. The
 * stream waits while the connection is lost or the user pauses.
 */
export function streamDownloadJob({ paths, system, changed }: StreamDownload): StreamDownloadJob {
  let plan: { folders: string[]; files: (RemoteFile & { name: string })[] } | undefined
  let archive: Archive | undefined
  let plain = false
  let leftOut = 0
  let tally: Tally | undefined
  let sink: ByteSink | undefined
  /** The position: folders sent, files sent, and bytes sent of the current file. */
  const at = { folder: 0, file: 0, bytes: 0 }
  const announced = deferred<Announced>()
  const served = deferred<ByteSink>()

  async function prepare(sftp: Sftp, signal: AbortSignal): Promise<void> {
    const [first = '/'] = paths
    plain = paths.length === 1 && fileKindOf((await sftp.stat(first)).mode) === 'file'
    const tree = await walk(sftp, paths, signal)
    const mapped = mapNames(tree, system)
    leftOut = tree.leftOut + mapped.leftOut
    plan = mapped
    tally = createTally(
      mapped.files.map(({ size }) => size),
      changed,
    )
    const [file] = mapped.files
    const name = new LocalNames('win32').claim(first.split('/').filter(Boolean).at(-1) ?? 'files') ?? 'files'
    if (plain && file !== undefined) announced.resolve({ name, size: file.size })
    else announced.resolve({ name: paths.length === 1 ? `${name}.tar` : 'files.tar' })
  }

  async function send(sftp: Sftp, file: number, signal: AbortSignal, out: ByteSink): Promise<void> {
    const planned = plan?.files[file]
    if (planned === undefined) return
    const handle = await sftp.openRead(planned.path)
    try {
      const { size, modified } = await sftp.statHandle(handle)
      if (size !== planned.size || modified !== planned.modified)
        throw new BerthError(changedMeanwhile(planned.path))
      if (at.bytes === 0) archive?.begin(planned.name, planned)
      const write = archive?.write ?? (bytes => out.write(bytes))
      await copyDown(
        sftp,
        handle,
        { from: at.bytes, to: size },
        async bytes => {
          await write(bytes)
          // Bytes that were written are never sent again, even after a retry.
          at.bytes += bytes.length
          tally?.set(file, at.bytes)
        },
        { signal, onBytes: () => undefined },
      )
      await archive?.finish()
    } finally {
      await sftp.close(handle).catch(() => undefined)
    }
  }

  return {
    announced: announced.promise,
    serve(given) {
      sink = given
      if (!plain) archive = openArchive(given)
      served.resolve(given)
    },
    async prepare(sftp, signal) {
      try {
        await prepare(sftp, signal)
      } catch (error) {
        announced.reject(error)
        throw error
      }
    },
    async run(sftp, signal) {
      const out = await Promise.race([served.promise, rejection(signal)])
      const { folders = [], files = [] } = plan ?? {}
      for (; at.folder < folders.length; at.folder++) archive?.folder(folders[at.folder] ?? '')
      for (; at.file < files.length; at.file++, at.bytes = 0) {
        signal.throwIfAborted()
        await send(sftp, at.file, signal, out)
        tally?.finish(at.file)
      }
      await archive?.end()
      out.end()
    },
    tally: () => tally,
    leftOut: () => leftOut,
    async discard() {
      sink?.abort()
    },
  }
}

function mapNames(tree: Awaited<ReturnType<typeof walk>>, system: NamesOf) {
  const places = new Map<string, { path: string; names: LocalNames }>([
    ['', { path: '', names: new LocalNames(system) }],
  ])
  let leftOut = 0
  const claim = (names: readonly string[]) => {
    const place = places.get(names.slice(0, -1).join('/'))
    const name = place?.names.claim(names.at(-1) ?? '')
    if (place !== undefined && name !== undefined) return `${place.path}${name}`
    leftOut++
    return undefined
  }
  const folders = tree.folders.flatMap(({ names }) => {
    const path = claim(names)
    if (path === undefined) return []
    places.set(names.join('/'), { path: `${path}/`, names: new LocalNames(system) })
    return [path]
  })
  const files = tree.files.flatMap(file => {
    const name = claim(file.names)
    return name === undefined ? [] : [{ ...file, name }]
  })
  return { folders, files, leftOut }
}

type Archive = ReturnType<typeof openArchive>

function openArchive(out: ByteSink) {
  const pack: Pack = tarPack()
  let entry: ReturnType<Pack['entry']> | undefined
  const pumped = (async () => {
    for await (const chunk of pack) await out.write(Buffer.from(chunk))
  })()
  pumped.catch(error =>
    pack.destroy(error instanceof Error ? error : new Error('the other side disconnected')),
  )
  return {
    folder: (name: string): void => void pack.entry({ name: `${name}/`, type: 'directory', mode: 0o755 }),
    begin(name: string, { size, mode, modified }: RemoteFile): void {
      entry = pack.entry({ name, size, mode: mode & 0o777, mtime: new Date(modified * 1000) })
      entry.on('error', () => undefined)
    },
    write(bytes: Buffer): Promise<void> {
      return new Promise((resolve, reject) => {
        const target = entry
        if (target === undefined || target.destroyed) return reject(new Error('the archive has ended'))
        // Copied, since the bytes are only lent and the archive keeps them.
        if (target.write(Buffer.from(bytes))) return resolve()
        target.once('drain', () => resolve())
        target.once('close', () => reject(new Error('the archive has ended')))
      })
    },
    async finish(): Promise<void> {
      const target = entry
      entry = undefined
      if (target === undefined) return
      const finished = new Promise<void>(resolve => target.once('finish', resolve))
      target.end()
      await finished
    },
    /** Resolves when the whole archive has been written. */
    async end(): Promise<void> {
      pack.finalize()
      await pumped
    },
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

const changedMeanwhile = (path: string): Problem => ({
  code: 'changed_meanwhile',
  message: `${harmless(path)} was changed on the instance while it was being downloaded.`,
  advice: 'Download it again.',
})
