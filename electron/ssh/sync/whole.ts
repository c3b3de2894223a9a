import type { Clock } from '#platform/platform.ts'
import { listedFolderOf, type RemoteItem, type RemoteListing } from './listing.ts'

/**
 * How a file on the instance stands while it is downloaded. whole: it was left alone for some seconds. log: it grows slowly
 * and steadily. written: it is still being written.
 */
export type Standing = 'whole' | 'log' | 'written'

/**
 * Whole seconds without a change after which a file counts as whole, and one that a program has open for writing; more
 * than `mayChangeFor` of `fetch.ts`.
 */
export const restSeconds = { closed: 3, open: 60 }
/**
 * Seconds before a machine's end within which what was written may be half of a file, as a program may pause in it, and for
 * which a new folder may only wait for its files.
 */
export const unsureSeconds = 5 * restSeconds.closed
/** A log: over how many seconds it must have grown, and by how much at most: bytes, and bytes a second. */
const log = { seconds: 9, bytes: 16 * 1024, perSecond: 4 * 1024 }
/** A status file: at most that large, written at that many seconds, with at most as many sizes. */
const status = { bytes: 64 * 1024, times: 3, sizes: 3 }

/** A program that gives a file an earlier time does so once its content is whole, so that of the content counts. */
function isLeftAlone({ modified, open }: RemoteItem, now: number): boolean {
  return Math.abs(now - modified) >= (open ? restSeconds.open : restSeconds.closed)
}

/** Whether a name is plainly that of a file that isn't ready yet, which tells nothing of those beside it. As in `whole.sh`. */
export function isTemporary(path: string): boolean {
  return /(?:\.(?:tmp|part|incomplete)|~)$|(?:^|\/)\.[^/]*\.swp$/.test(path)
}

/** What is saved together: a folder, or the files in one with the same number in their names. Times in epoch seconds. */
interface Save {
  name: string
  paths: string[]
  oldest: number
  newest: number
  /** In a folder, when its files came, by what their names have in common; of a number, all as one. */
  parts: Map<string, number[]>
}

/** Seconds in which all of a save comes. */
const saveSeconds = 600

/**
 * The files of saves that have fewer files than the one before them whose name differs in numbers alone, and to which something
 * was written in the last minute, by the name of their save: parts of a checkpoint may still come. As `berth_unfinished` of
 * `whole.sh`.
 */
export function unfinishedFiles({ items, now }: RemoteListing): Map<string, string> {
  const saves = new Map<string, Save>()
  const kinds = new Map<string, Set<Save>>()
  for (const [path, { kind, modified }] of items) {
    if (kind !== 'file' || isTemporary(path)) continue
    for (const { name, kindOf, part } of savesOf(path)) {
      const save: Save = saves.get(name) ?? {
        name,
        paths: [],
        oldest: modified,
        newest: modified,
        parts: new Map(),
      }
      saves.set(name, save)
      kinds.set(kindOf, (kinds.get(kindOf) ?? new Set()).add(save))
      if (save.paths.at(-1) !== path) {
        save.paths.push(path)
        save.parts.set(part, [...(save.parts.get(part) ?? []), modified])
      }
      save.oldest = Math.min(save.oldest, modified)
      save.newest = Math.max(save.newest, modified)
    }
  }
  const isOne = ({ oldest, newest }: Save) => newest - oldest <= saveSeconds
  const unfinished = [...kinds.values()].flatMap(kind => {
    const [last, ...earlier] = [...kind].toSorted((a, b) => b.newest - a.newest)
    if (!last || now - last.newest >= restSeconds.open || !isOne(last)) return []
    const before = earlier.find(({ newest }) => newest <= last.oldest)
    return before && isOne(before) && hasFewer(last, before) ? last : []
  })
  return new Map(unfinished.flatMap(({ name, paths }) => paths.map(path => [path, name] as const)))
}

/** Whether a save has fewer files than the one before it, other than of a series, of which one is enough. */
function hasFewer(save: Save, before: Save): boolean {
  if (save.paths.length >= before.paths.length) return false
  return [...before.parts].some(([part, times]) => {
    const { length = 0 } = save.parts.get(part) ?? []
    return length < times.length && (length === 0 || part === '' || !isSeries(times))
  })
}

/** Whether files whose names differ in numbers alone came too far apart to be parts of one. */
function isSeries(times: readonly number[]): boolean {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.some((time, index) => time - (sorted[index - 1] ?? time) > unsureSeconds)
}

/** The saves to which a file may belong, each with its kind, and the part of it that the file is. */
function savesOf(path: string): { name: string; kindOf: string; part: string }[] {
  const folder = listedFolderOf(path)
  const file = path.slice(folder.length)
  const found: { name: string; kindOf: string; part: string }[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const name = path.slice(0, at)
    const place = listedFolderOf(name)
    const own = name.slice(place.length)
    if (/\d/.test(own)) found.push({ name, kindOf: place + shapeOf(own), part: shapeOf(path.slice(at)) })
  }
  for (const [index, number] of (file.match(/\d+/g) ?? []).entries())
    found.push({ name: `${folder} ${number}`, kindOf: `${folder}${shapeOf(file)} ${index}`, part: '' })
  return found
}

const shapeOf = (name: string) => name.replaceAll(/\d+/g, '0')

/** Whether something was asked about for the first time less than a minute ago. */
export function createFirstMinutes(clock: Pick<Clock, 'monotonic'>): (what: string) => boolean {
  const since = new Map<string, number>()
  return what => {
    const first = since.get(what) ?? clock.monotonic()
    since.set(what, first)
    return clock.monotonic() - first < restSeconds.open * 1000
  }
}

/** The files that were not left alone, of one listing after the other. */
export interface Samples {
  add(listing: RemoteListing): void
  /** Seconds from the first to the last. */
  seconds(): number
  standing(path: string): Standing
  /** Whether it is small and written again and again, as a program's status is, and so no part of a checkpoint. */
  isStatus(path: string): boolean
}

export function createSamples(): Samples {
  const samples: { now: number; files: ReadonlyMap<string, RemoteItem> }[] = []
  const seconds = () => (samples.at(-1)?.now ?? 0) - (samples[0]?.now ?? 0)

  function isLog(path: string): boolean {
    const sizes = samples.map(({ files }) => files.get(path)?.size)
    const [first] = sizes
    let before = first
    for (const size of sizes) {
      if (size === undefined || before === undefined || size < before) return false
      before = size
    }
    if (first === undefined || before === undefined || before === first || seconds() < log.seconds)
      return false
    return before - first <= log.bytes + log.perSecond * seconds()
  }

  return {
    seconds,
    add(listing) {
      const { items, now } = listing
      const files = [...items].filter(([, item]) => item.kind === 'file' && !isLeftAlone(item, now))
      samples.push({ now, files: new Map(files) })
    },
    standing(path) {
      if (!samples.at(-1)?.files.has(path)) return 'whole'
      return isLog(path) ? 'log' : 'written'
    },
    isStatus(path) {
      const seen = samples.flatMap(({ files }) => files.get(path) ?? [])
      const distinct = (values: readonly number[]) => new Set(values).size
      return (
        seen.every(({ size }) => size <= status.bytes) &&
        distinct(seen.map(({ modified }) => modified)) >= status.times &&
        distinct(seen.map(({ size }) => size)) <= status.sizes
      )
    },
  }
}
