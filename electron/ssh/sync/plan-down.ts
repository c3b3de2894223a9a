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

export interface Offered {
  path: string
  item: RemoteItem
}

interface Taken {
  name: string
  inside: Map<string, Taken>
}

/**
 * The listed files whose names this system accepts unchanged; others are skipped. Of several names that are equal on
 * this system, the first wins. Nothing is fetched that would make a folder a git repository, since git runs what its
 * configuration names: nothing into `.git`, and no `HEAD`, which every repository without a `.git` has.
 */
export function offeredFiles(
  items: ReadonlyMap<string, RemoteItem>,
  system: NamesOf,
): { files: Offered[]; skipped: Skipped[] } {
  const files: Offered[] = []
  const skipped: Skipped[] = []
  const taken: Taken['inside'] = new Map()
  for (const [path, item] of items) {
    const names = path.split('/')
    if (isOurs(names)) continue
    const isNamed =
      names.length <= treeBounds.depth &&
      names.every(name => isName(name, system)) &&
      !(item.kind === 'file' && folded(names.at(-1) ?? '', system) === folded('HEAD', system))
    const why = isNamed && isFree(names) ? kinds[item.kind] : 'name'
    if (why !== undefined) skipped.push({ path, why })
    else if (item.kind === 'file') files.push({ path, item })
  }
  return { files, skipped }

  /** Checks every folder of the path, since folder names clash as file names do. */
  function isFree(names: readonly string[]): boolean {
    let folder = taken
    return names.every(name => {
      const key = folded(name, system)
      const first = folder.get(key) ?? { name, inside: new Map() }
      folder.set(key, first)
      folder = first.inside
      return first.name === name
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
  return localName(name, system) === name && !isUnreadable(name) && !isGits.test(name)
}

/** A name's form that is equal for all names that this system takes for the same. */
function folded(name: string, system: NamesOf): string {
  return system === 'linux' ? name : name.normalize('NFC').toLowerCase()
}

/** `.git`, and the short name that Windows gives it. */
const isGits = /^(\.git|git~\d+)$/i

function isOurs([first = '', ...rest]: readonly string[]): boolean {
  return (
    first === stagingName || first === `${stagingName}.pid` || (rest.at(-1) ?? first).endsWith('.berth-part')
  )
}
