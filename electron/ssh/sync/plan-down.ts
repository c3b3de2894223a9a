import { isUnreadable, type RemoteKind } from '../../contract/instance/files.ts'
import type { Skipped, SkipReason } from '../../contract/instance/sync.ts'
import { treeBounds } from '../../contract/instance/tree-bounds.ts'
import type { LocalEntry } from '../../ports/synced-folders.ts'
import { localName, type NamesOf, numbered } from '../files/transfer/local-names.ts'
import type { RemoteItem } from './listing.ts'
import { stagingName } from './scan.ts'

/** What a file was when both sides had the same. Bytes, and whole epoch seconds. */
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

/** What becomes of a file that is on an instance. `keep`: it is the same here, or has not changed there. */
export type Fate = 'keep' | 'fetch' | 'beside'

/**
 * `here` is undefined where nothing is, and `synced` where that path was never brought home. What was changed here since
 * then is never replaced, nor is what Berth never brought.
 */
export function fateOf(there: Version, here: LocalEntry | undefined, synced: Version | undefined): Fate {
  if (here === undefined) return 'fetch'
  if (here.kind !== 'file') return isSame(there, synced) ? 'keep' : 'beside'
  if (isSame(here, there)) return 'keep'
  if (isSame(here, synced)) return 'fetch'
  return isSame(there, synced) ? 'keep' : 'beside'
}

/** `model (from instance 4711).pt`, and with a number from the second on. */
export function besideName(name: string, from: string, number: number): string {
  const dot = name.lastIndexOf('.')
  const marked = dot > 0 ? `${name.slice(0, dot)} (from ${from})${name.slice(dot)}` : `${name} (from ${from})`
  return number === 1 ? marked : numbered(marked, number)
}

export interface Offered {
  path: string
  item: RemoteItem
}

/**
 * Of what an instance lists, the files whose names this system takes as they are; the others are skipped. Of names that
 * are one here and several there the first one wins. Nothing comes into a `.git`: what lies there is run.
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

  /** Each step of it, since folders clash as files do. */
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
