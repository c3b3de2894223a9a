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

/**
 * The folders that have fewer files than the one before them whose name differs in numbers alone, and into which something was
 * written in the last minute: parts of a checkpoint may still come. As in `settle.sh`.
 */
export function unfinishedFolders({ items, now }: RemoteListing): string[] {
  const sets = new Map<string, { path: string; files: number; newest: number }>()
  for (const [path, { kind, modified }] of items) {
    if (kind !== 'file' || isTemporary(path)) continue
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const folder = path.slice(0, at)
      const { files, newest } = sets.get(folder) ?? { files: 0, newest: 0 }
      sets.set(folder, { path: folder, files: files + 1, newest: Math.max(newest, modified) })
    }
  }
  const kinds = new Map<string, { path: string; files: number; newest: number }[]>()
  for (const set of sets.values()) {
    const place = listedFolderOf(set.path)
    const kind = `${place}${set.path.slice(place.length).replaceAll(/\d+/g, '0')}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), set])
  }
  return [...kinds.values()].flatMap(alike => {
    const [last, before] = alike.toSorted((a, b) => b.newest - a.newest)
    const lacks = last && before && last.files < before.files && now - last.newest < restSeconds.open
    return lacks ? last.path : []
  })
}

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
