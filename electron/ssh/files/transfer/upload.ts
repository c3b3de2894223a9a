import type { OpenSource, Source, SourceList } from '#platform/folders.ts'
import { joined } from '#shared/instance/file-names.ts'
import { destinationOf, isThere, partOf, takeAfter } from '../destination.ts'
import { existing } from '../file-problems.ts'
import type { Handle, Sftp } from '../sftp.ts'
import { copyUp } from './copying.ts'
import { createTally, forEachFile, type Tally, type TransferJob } from './job.ts'

export interface Upload {
  /** The folder on the instance. */
  folder: string
  /** Lists the files to send; called when the job is prepared. */
  list(): Promise<SourceList>
  /** Whether existing files may be replaced. */
  replace: boolean
  /** Whether an earlier Berth began it: files that arrived whole are then kept. */
  begun?: boolean
  changed(): void
}

/** Bytes at the end of a partial file that are compared before it is resumed. */
const tailLength = 256 * 1024
const isFolder = (mode: number) => (mode & 0o170_000) === 0o040_000

/**
 * Uploads files and folders. Each file is written next to its target, under a temporary name made from its name, size
 * and time: the same file sent again is resumed, and a changed one starts again.
 */
export function uploadJob({ folder, list, replace, begun: isBegun, changed }: Upload): TransferJob {
  let sources: SourceList | undefined
  let tally: Tally | undefined
  const begun = new Set<string>()
  /** Whole partial files that may have got their names already, since the answer may be lost. */
  const placing = new Set<string>()

  async function send(sftp: Sftp, file: number, source: Source, signal: AbortSignal): Promise<void> {
    const destination = await destinationOf(sftp, joined(folder, ...source.path))
    const { path: target } = destination
    const part = partOf(target, `${source.size}/${Math.trunc(source.modified)}`)
    if (placing.has(part) && !(await isThere(sftp, part))) return placed(file, part)
    if (isBegun && !replace && destination.before) {
      if (destination.before.size === source.size) return placed(file, part)
      throw existing([target], false)
    }
    const open = await source.open()
    try {
      begun.add(part)
      const handle = await sftp.openWrite(part)
      try {
        const from = await arrived(sftp, handle, open, source)
        let done = from
        tally?.set(file, done)
        await copyUp(
          sftp,
          handle,
          open,
          { from, to: source.size },
          {
            signal,
            onBytes(bytes) {
              done += bytes
              tally?.set(file, done)
            },
          },
        )
      } finally {
        await sftp.close(handle).catch(() => undefined)
      }
      await takeAfter(sftp, part, destination, source.executable ? 0o755 : 0o644)
      placing.add(part)
      await (replace ? sftp.replace(part, target) : sftp.rename(part, target))
      placed(file, part)
    } finally {
      await open.close().catch(() => undefined)
    }
  }

  function placed(file: number, part: string): void {
    placing.delete(part)
    begun.delete(part)
    tally?.finish(file)
  }

  return {
    async prepare(sftp) {
      const found = await list()
      const tops = new Set(
        [...found.folders, ...found.files.map(({ path }) => path)].map(([top = '']) => top),
      )
      if (!replace && !isBegun) await refuseExisting(sftp, folder, [...tops])
      sources = found
      tally = createTally(
        found.files.map(({ size }) => size),
        changed,
      )
    },
    async run(sftp, signal) {
      if (sources === undefined) throw new Error('prepare comes first')
      const { folders, files } = sources
      for (const path of folders) {
        signal.throwIfAborted()
        await makeFolder(sftp, joined(folder, ...path))
      }
      await forEachFile(
        files.map(({ size }) => size),
        signal,
        async (file, either) => {
          const source = files[file]
          if (source !== undefined && !tally?.isDone(file)) await send(sftp, file, source, either)
        },
      )
    },
    tally: () => tally,
    leftOut: () => sources?.leftOut ?? 0,
    async discard(sftp) {
      if (sftp === undefined) return
      for (const part of begun) await sftp.remove(part).catch(() => undefined)
      begun.clear()
    },
  }
}

/** Throws `exists` if any of the names is taken. `isReplaceable`: whether the user may choose to replace them. */
export async function refuseExisting(
  sftp: Sftp,
  folder: string,
  names: readonly string[],
  isReplaceable = false,
): Promise<void> {
  const there = await Promise.all(names.map(name => isThere(sftp, joined(folder, name))))
  const taken = names.filter((_, at) => there[at])
  if (taken.length > 0) throw existing(taken, isReplaceable)
}

/** The offset to resume at: up to where the partial file equals the source, else 0. The rest is cut off. */
async function arrived(sftp: Sftp, handle: Handle, open: OpenSource, source: Source): Promise<number> {
  const { size } = await sftp.statHandle(handle)
  // Other servers may have written later pieces before earlier ones, so the end is not trusted.
  const sure = sftp.inOrder ? size : size - sftp.writing.depth * sftp.writing.piece
  const from = Math.max(0, Math.min(sure, source.size))
  const same = from > 0 && (await endsAlike(sftp, handle, open, from))
  const start = same ? from : 0
  if (size > start) await sftp.cut(handle, start)
  return start
}

async function endsAlike(sftp: Sftp, handle: Handle, open: OpenSource, at: number): Promise<boolean> {
  const length = Math.min(tailLength, at)
  for (let offset = at - length; offset < at; ) {
    const there = Buffer.alloc(Math.min(sftp.reading.piece, at - offset))
    const bytes = await sftp.read(handle, there, offset)
    const here = Buffer.alloc(bytes)
    if (bytes === 0 || (await open.read(offset, here)) !== bytes) return false
    if (!here.equals(there.subarray(0, bytes))) return false
    offset += bytes
  }
  return true
}

/** Makes a folder, unless it is there. */
export async function makeFolder(sftp: Sftp, path: string): Promise<void> {
  try {
    await sftp.makeFolder(path)
  } catch (error) {
    // If the folder exists, servers report only a failure.
    const there = await sftp.stat(path).catch(() => undefined)
    if (there === undefined || !isFolder(there.mode)) throw error
  }
}
