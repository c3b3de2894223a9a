import type { Files } from '#platform/platform.ts'
import { isGoing, type RunView } from '#shared/automation/run.ts'
import { latestProgram, programsOf } from './model.ts'
import type { StoredRuns } from './stored-runs.ts'

/** Bytes of a full file, after which the next one begins, and the most files of one run. */
export const outputBounds = { bytes: 4 * 1024 * 1024, files: 4 }

/**
 * The stored output of one run, in files named by the byte of the output that they begin with. The byte to continue
 * from follows from their sizes, so that a kill neither repeats nor loses any. Nothing is kept in memory.
 */
export type RunOutput = Awaited<ReturnType<typeof openOutput>>

/** One file of an output. */
interface Part {
  at: number
  size: number
}

/** The same with the run that it belongs to. */
export interface RunPart extends Part {
  run: string
}

/** `makeRoom` is awaited before another file begins, and never rejects. */
export async function openOutput(
  files: Files,
  folder: string,
  id: string,
  most: typeof outputBounds = outputBounds,
  makeRoom: () => Promise<void> = async () => undefined,
) {
  let parts = await partsOf(files, folder, id)
  const listeners = new Set<() => void>()
  const nameOf = ({ at }: Part) => `${folder}/${id}.${String(at).padStart(15, '0')}`
  const next = () => endOf(parts.at(-1))

  /** The oldest go first, so that the files left after a kill are contiguous. */
  async function lose(to: number): Promise<void> {
    for (const part of parts.filter(one => endOf(one) <= to)) {
      await files.delete(nameOf(part))
      parts = parts.filter(({ at }) => at !== part.at)
    }
  }

  return {
    /** The byte of the output to continue from. */
    next,
    /** The first byte that is still stored. */
    first: (): number => parts[0]?.at ?? 0,
    /** Resolves once it is on disk. Deletes the oldest file if there are too many. */
    async append(bytes: Uint8Array): Promise<void> {
      if (bytes.length === 0) return
      const last = parts.at(-1)
      const full = !last || last.size >= most.bytes
      if (full) await makeRoom()
      const part = full ? { at: next(), size: 0 } : last
      try {
        await files.append(nameOf(part), bytes)
      } catch (error) {
        // Part of it may have been written.
        parts = await partsOf(files, folder, id)
        throw error
      }
      parts = [...parts.filter(one => one !== part), { ...part, size: part.size + bytes.length }]
      await lose(parts.at(-most.files)?.at ?? 0)
      for (const listener of listeners) listener()
    },
    /** Deletes the files that end at a byte or before it. */
    lose,
    /** At most `most` bytes from a byte on, or from the first that is still stored. */
    async read(from: number, length: number): Promise<{ at: number; bytes: Buffer }> {
      const at = Math.max(from, parts[0]?.at ?? 0)
      const pieces: Buffer[] = []
      let next = at
      for (const part of parts) {
        const most = Math.min(at + length, endOf(part)) - next
        if (next < part.at || most <= 0) continue
        const piece = await files.readPart(nameOf(part), next - part.at, most)
        pieces.push(piece)
        next += piece.length
      }
      return { at, bytes: Buffer.concat(pieces) }
    },
    /** Calls back after each addition; returns the function that ends this. */
    onAppend(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Deletes the output of a run; without an id, of all runs. */
export async function deleteOutput(files: Files, folder: string, id?: string): Promise<void> {
  const all = await files.list(folder)
  const mine = all.filter(({ name }) => id === undefined || name.startsWith(`${id}.`))
  await Promise.all(mine.map(({ name }) => files.delete(`${folder}/${name}`)))
}

/** The files of all runs, those of each in order. */
export async function everyPart(files: Files, folder: string): Promise<RunPart[]> {
  const all = (await files.list(folder)).flatMap(({ name, size }) => {
    const [, run, at] = /^(\w+)\.(\d{15})$/.exec(name) ?? []
    return run !== undefined && at !== undefined && size > 0 ? [{ run, at: Number(at), size }] : []
  })
  return all.sort((a, b) => a.at - b.at)
}

/** The last contiguous files of one run. */
async function partsOf(files: Files, folder: string, id: string): Promise<Part[]> {
  const all = await everyPart(files, folder)
  const parts = all.flatMap(({ run, at, size }) => (run === id ? [{ at, size }] : []))
  const gap = parts.findLastIndex((part, index) => index > 0 && endOf(parts[index - 1]) !== part.at)
  return gap > 0 ? parts.slice(gap) : parts
}

function endOf(part: Part | undefined): number {
  return part ? part.at + part.size : 0
}

export type RunOutputs = ReturnType<typeof createOutputs>

/** The stored outputs of all runs of an account, which share one limit on disk. */
export function createOutputs(files: Files, folder: string, runs: Pick<StoredRuns, 'all' | 'note'>) {
  const outputs = new Map<string, Promise<RunOutput>>()
  let making: Promise<void> = Promise.resolve()

  function of(id: string): Promise<RunOutput> {
    const open = outputs.get(id) ?? openOutput(files, folder, id, outputBounds, makeRoom)
    outputs.set(id, open)
    return open
  }

  /** One at a time, so that each counts the rest after the previous one. Failed deletions are repeated next time. */
  function makeRoom(): Promise<void> {
    making = making.then(clear).catch(() => undefined)
    return making
  }

  async function clear(): Promise<void> {
    const printed = runs
      .all()
      .flatMap(run =>
        programsOf(run).map(id => ({ ...run, id, run: run.id, isLatest: id === latestProgram(run) })),
      )
    for (const [id, to] of toLose(await everyPart(files, folder), printed)) {
      const output = await of(id)
      await output.lose(to)
      const its = printed.find(one => one.id === id)
      if (its?.isLatest) runs.note(its.run, { droppedBytes: to })
    }
  }

  return {
    of,
    /** Deletes the output of a run, or of all of them. Never rejects. */
    async delete(id?: string): Promise<void> {
      if (id === undefined) outputs.clear()
      else outputs.delete(id)
      await deleteOutput(files, folder, id).catch(() => undefined)
    },
  }
}

/** The most bytes of output stored for all runs of an account together. */
const mostOfAll = 200 * 1024 * 1024

type RunOnDisk = Pick<RunView, 'id' | 'step' | 'createdAt' | 'endedAt'>

/**
 * Up to which byte runs lose their output to make room for another file. First goes the output without a run; then that
 * of ended runs, the oldest end first, except their newest files; then these; then that of unfinished runs, which never
 * lose their newest files.
 */
export function toLose(
  parts: readonly RunPart[],
  runs: readonly RunOnDisk[],
  { all, file } = { all: mostOfAll, file: outputBounds.bytes },
): ReadonlyMap<string, number> {
  const known = new Set(runs.map(({ id }) => id))
  const ended = runs.filter(run => !isGoing(run)).sort((a, b) => endTime(a) - endTime(b))
  const going = runs.filter(isGoing).sort((a, b) => a.createdAt - b.createdAt)
  const goesOn = new Set(going.map(({ id }) => id))
  const newest = new Map(parts.map(part => [part.run, part]))
  const isNewest = (part: RunPart) => newest.get(part.run) === part
  const of = (some: readonly RunOnDisk[]) => some.flatMap(({ id }) => parts.filter(({ run }) => run === id))
  const order = [
    ...parts.filter(({ run }) => !known.has(run)),
    ...of(ended).filter(part => !isNewest(part)),
    ...of(ended).filter(isNewest),
    ...of(going).filter(part => !isNewest(part)),
  ]

  // The newest file of an unfinished run may still grow to a full one.
  const sizeOf = (part: RunPart) =>
    goesOn.has(part.run) && isNewest(part) ? Math.max(part.size, file) : part.size
  let surplus = parts.reduce((sum, part) => sum + sizeOf(part), file) - all
  const lost = new Map<string, number>()
  for (const part of order) {
    if (surplus <= 0) break
    lost.set(part.run, part.at + part.size)
    surplus -= part.size
  }
  return lost
}

function endTime({ endedAt, createdAt }: RunOnDisk): number {
  return endedAt ?? createdAt
}
