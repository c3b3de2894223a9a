import type { ChosenFolder, Sink } from '#platform/folders.ts'
import type { Handle, Sftp } from '../sftp.ts'
import { type RemoteFile, walk } from '../walk.ts'
import { copyDown } from './copying.ts'
import { createTally, forEachFile, type Tally, type TransferJob } from './job.ts'
import { LocalNames, type NamesOf } from './local-names.ts'

export interface Download {
  /** Paths on the instance. */
  paths: readonly string[]
  into: ChosenFolder
  system: NamesOf
  changed(): void
}

interface Planned extends RemoteFile {
  local: readonly string[]
}

/** Bytes at the end of a partial file that are compared before it is resumed. */
const tailLength = 256 * 1024

/**
 * Downloads files and folders into a chosen folder. Existing files are not touched: a chosen file or folder whose name
 * is taken gets a number. Names from the instance are mapped one by one, so no path leaves the folder.
 */
export function downloadJob({ paths, into, system, changed }: Download): TransferJob {
  let folders: (readonly string[])[] = []
  let files: Planned[] = []
  let leftOut = 0
  let tally: Tally | undefined
  /** Files that were begun and are not complete, by local path. */
  const begun = new Map<string, { local: readonly string[]; version: string }>()
  let made = 0

  async function plan(sftp: Sftp, signal: AbortSignal): Promise<void> {
    const tree = await walk(sftp, paths, signal)
    const planned = await planLocally(tree, into, system)
    folders = planned.folders
    files = planned.files
    leftOut = tree.leftOut + planned.leftOut
    tally = createTally(
      files.map(({ size }) => size),
      changed,
    )
  }

  async function fetch(sftp: Sftp, file: number, planned: Planned, signal: AbortSignal): Promise<void> {
    const handle = await sftp.openRead(planned.path)
    try {
      const { size, modified } = await sftp.statHandle(handle)
      const key = planned.local.join('/')
      const version = `${size}/${modified}`
      begun.set(key, { local: planned.local, version })
      const sink = await into.receive(planned.local, version)
      try {
        const from = await arrived(sftp, handle, sink, size)
        let done = from
        tally?.set(file, done)
        await copyDown(
          sftp,
          handle,
          { from, to: size, waiting: sftp.reading.depth },
          bytes => sink.write(bytes),
          {
            signal,
            onBytes(bytes) {
              done += bytes
              tally?.set(file, done)
            },
          },
        )
        await sink.finish(modified)
      } catch (error) {
        await sink.leave().catch(() => undefined)
        throw error
      }
      begun.delete(key)
      tally?.finish(file)
    } finally {
      await sftp.close(handle).catch(() => undefined)
    }
  }

  return {
    prepare: plan,
    async run(sftp, signal) {
      for (; made < folders.length; made++) {
        signal.throwIfAborted()
        await into.makeFolder(folders[made] ?? [])
      }
      await forEachFile(
        files.map(({ size }) => size),
        signal,
        async (file, either) => {
          const planned = files[file]
          if (planned !== undefined && !tally?.isDone(file)) await fetch(sftp, file, planned, either)
        },
      )
    },
    tally: () => tally,
    leftOut: () => leftOut,
    async discard() {
      for (const { local, version } of begun.values()) {
        const sink = await into.receive(local, version).catch(() => undefined)
        await sink?.discard().catch(() => undefined)
      }
      begun.clear()
    },
  }
}

/** A local path for each folder and file. Chosen ones get a free name; inside them, all names are free. */
async function planLocally(
  tree: Awaited<ReturnType<typeof walk>>,
  into: ChosenFolder,
  system: NamesOf,
): Promise<{ folders: (readonly string[])[]; files: Planned[]; leftOut: number }> {
  const folders: (readonly string[])[] = []
  const files: Planned[] = []
  let leftOut = 0
  /** By the remote folder's names: its local path, and the local names that are taken in it. */
  const places = new Map<string, { local: readonly string[]; names: LocalNames }>()
  const top = new LocalNames(system)

  async function localPath(names: readonly string[]): Promise<readonly string[] | undefined> {
    const last = names.at(-1) ?? ''
    if (names.length === 1) {
      const name = top.claim(last)
      return name === undefined ? undefined : [await into.freshName(name)]
    }
    const place = places.get(names.slice(0, -1).join('/'))
    const name = place?.names.claim(last)
    return place === undefined || name === undefined ? undefined : [...place.local, name]
  }

  for (const { names } of tree.folders) {
    const local = await localPath(names)
    if (local === undefined) {
      leftOut++
      continue
    }
    folders.push(local)
    places.set(names.join('/'), { local, names: new LocalNames(system) })
  }
  for (const file of tree.files) {
    const local = await localPath(file.names)
    if (local === undefined) leftOut++
    else files.push({ ...file, local })
  }
  return { folders, files, leftOut }
}

/** The offset to resume at: the partial file's size if the remote file is the same before it, else 0. */
async function arrived(sftp: Sftp, handle: Handle, sink: Sink, size: number): Promise<number> {
  const at = sink.size
  if (at === 0) return 0
  if (at > size) {
    await sink.cutTo(0)
    return 0
  }
  const here = Buffer.from(await sink.tail(Math.min(tailLength, at)))
  for (let offset = 0; offset < here.length; ) {
    const there = Buffer.alloc(Math.min(sftp.reading.piece, here.length - offset))
    const bytes = await sftp.read(handle, there, at - here.length + offset)
    if (bytes === 0 || !there.subarray(0, bytes).equals(here.subarray(offset, offset + bytes))) {
      await sink.cutTo(0)
      return 0
    }
    offset += bytes
  }
  return at
}
