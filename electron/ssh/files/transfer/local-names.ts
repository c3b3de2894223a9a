import { checkedName, withoutHarm } from '../../../contract/instance/file-names.ts'
import { withoutEnd } from '../../../contract/text.ts'

/** What the system of this machine makes of names. */
export type NamesOf = 'linux' | 'darwin' | 'win32'

/** Bytes of the longest name, with room left for a number. */
const longest = 240

/** Characters of a remote name. */
const longestRemote = 4096

/**
 * A remote name as one step of a path on this machine, or undefined for what can never be one. What this system would
 * read as something else, or what would act on a screen, becomes `_`; the result is a plain name everywhere.
 */
export function localName(name: string, system: NamesOf): string | undefined {
  if (name.length > longestRemote || checkedName(name) === undefined) return undefined
  let safe = withoutHarm(name, () => '_')
  if (system === 'win32') {
    safe = safe.replace(/[<>:"/\\|?*]/g, '_')
    safe = withoutEnd(safe, '. ').padEnd(safe.length, '_')
    if (reserved.test(safe)) safe = `_${safe}`
  }
  if (system === 'darwin') safe = safe.replaceAll(':', '_')
  return checkedName(shortened(safe))
}

/** Windows opens a device for these, whatever comes after a dot. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(\s*\.|\s*$)/i

/** Cut to what file systems take, its ending kept. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  let room = longest - Buffer.byteLength(ending)
  let start = ''
  for (const letter of name.slice(0, name.length - ending.length)) {
    room -= Buffer.byteLength(letter)
    if (room < 0) break
    start += letter
  }
  return start + ending
}

/** A name with a number before its ending: `data (2).csv`. */
export function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)} (${number})${name.slice(dot)}` : `${name} (${number})`
}

/**
 * Gives each remote name of a folder a local one of its own, since several may come to the same: by mapping, or where
 * the system does not tell `A` from `a`.
 */
export class LocalNames {
  readonly #system: NamesOf
  readonly #taken = new Set<string>()
  /** The next number to try for a name, so that thousands of the same are not counted through each time. */
  readonly #next = new Map<string, number>()

  constructor(system: NamesOf) {
    this.#system = system
  }

  /** Undefined for what can never be a name here. */
  claim(remote: string): string | undefined {
    const name = localName(remote, this.#system)
    if (name === undefined) return undefined
    for (let number = this.#next.get(name) ?? 1; ; number++) {
      const candidate = number === 1 ? name : numbered(name, number)
      const key = this.#system === 'linux' ? candidate : candidate.normalize('NFC').toLowerCase()
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      this.#next.set(name, number + 1)
      return candidate
    }
  }
}
