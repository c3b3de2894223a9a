import { isUnreadable, type RemoteKind } from '../../contract/instance/files.ts'
import type { Skipped, SkipReason } from '../../contract/instance/sync.ts'
import { treeBounds } from '../../contract/instance/tree-bounds.ts'
import type { LocalEntry } from '../../ports/synced-folders.ts'
import { localName, type NamesOf, numbered } from '../files/transfer/local-names.ts'
import type { RemoteItem } from './listing.ts'
import { stagingName } from './scan.ts'

/** A version of a file: bytes, and the time of its last change in whole epoch seconds. */
export interface Version {
  size: number
  modified: number
}

function isSame(one: Version | undefined, other: Version | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.size === other.size &&
    Math.floor(one.modified) === Math.floor(other.modified)
  )
}

/** The action for a remote file. `keep`: the local one is the same, or the remote one has not changed. */
export type Fate = 'keep' | 'fetch' | 'beside'

/**
 * `here`: the local file, if any. `synced`: the version that was fetched last, if any. A local file that was changed
 * since then is never replaced, and neither is a file that Berth did not fetch.
 */
export function fateOf(there: Version, here: LocalEntry | undefined, synced: Version | undefined): Fate {
  if (here === undefined) return 'fetch'
  if (here.kind !== 'file') return isSame(there, synced) ? 'keep' : 'beside'
  if (isSame(here, there)) return 'keep'
  if (isSame(here, synced)) return 'fetch'
  return isSame(there, synced) ? 'keep' : 'beside'
}

/** `model (from instance 4711).pt`, with a number from the second name on. */
export function besideName(name: string, from: string, number: number): string {
  const dot = name.lastIndexOf('.')
  const marked = dot > 0 ? `${name.slice(0, dot)} (from ${from})${name.slice(dot)}` : `${name} (from ${from})`
  return number === 1 ? marked : numbered(marked, number)
}

/** The path above; empty for the synced folder itself. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export interface Offered {
  path: string
  item: RemoteItem
}

/**
 * The listed files whose names this system accepts unchanged; others are skipped. Of several names that are equal on
 * this system, the first wins. Nothing is fetched into `.git`, since git runs files in it.
 */
export function offeredFiles(
  items: ReadonlyMap<string, RemoteItem>,
  system: NamesOf,
): { files: Offered[]; skipped: Skipped[] } {
  const files: Offered[] = []
  const skipped: Skipped[] = []
  const taken = new Map<string, string>()
  for (const [path, item] of items) {
    const names = path.split('/')
    if (isOurs(names)) continue
    const isNamed = names.length <= treeBounds.depth && names.every(name => isName(name, system))
    const why = isNamed && isFree(names) ? kinds[item.kind] : 'name'
    if (why !== undefined) skipped.push({ path, why })
    else if (item.kind === 'file') files.push({ path, item })
  }
  return { files, skipped }

  /** Checks every folder of the path, since folder names clash as file names do. */
  function isFree(names: readonly string[]): boolean {
    return names.every((_, at) => {
      const path = names.slice(0, at + 1).join('/')
      const key = system === 'linux' ? path : path.normalize('NFC').toLowerCase()
      const first = taken.get(key) ?? path
      taken.set(key, first)
      return first === path
    })
  }
}

const kinds: Readonly<Record<RemoteKind, SkipReason | undefined>> = {
  file: undefined,
  folder: undefined,
  link: 'link',
  other: 'special',
}

function isName(name: string, system: NamesOf): boolean {
  return localName(name, system) === name && !isUnreadable(name) && name.toLowerCase() !== '.git'
}

function isOurs([first = '', ...rest]: readonly string[]): boolean {
  return (
    first === stagingName || first === `${stagingName}.pid` || (rest.at(-1) ?? first).endsWith('.berth-part')
  )
}
