import { checkedName, withoutHarm } from '#shared/instance/file-names.ts'
import { withoutEnd } from '#shared/text.ts'

/** The operating system, whose rules for file names apply. */
export type NamesOf = 'linux' | 'darwin' | 'win32'

/** The most bytes of a name on the file systems of this computer. */
const longest = 255

/** The most characters of a remote name. */
const longestRemote = 4096

/**
 * A remote name as a file name on this machine; undefined if it can never be one. Characters that this system would
 * read as something else, or that would act on a screen, become `_`.
 */
export function localName(name: string, system: NamesOf): string | undefined {
  if (name.length > longestRemote || checkedName(name) === undefined) return undefined
  let safe = withoutHarm(name, () => '_')
  if (system === 'win32') {
    safe = safe.replace(/[<>:"/\\|?*]/g, '_')
    safe = withoutEnd(safe, '. ').padEnd(safe.length, '_')
    if (reserved.test(safe)) safe = `_${safe}`
  }
  return checkedName(shortened(safe))
}

/** Why this machine cannot store a name unchanged, where `localName` gives another one: a clause with "its name". */
export function nameProblem(name: string, system: NamesOf): string {
  if (checkedName(name) === undefined) return 'its name is not valid'
  if (/[\r\n]/.test(name)) return 'its name has a line break'
  if (withoutHarm(name, () => '') !== name) return 'its name has invisible characters'
  return Buffer.byteLength(name) > longest
    ? 'its name is too long'
    : `${systemNames[system]} does not allow its name`
}

const systemNames: Readonly<Record<NamesOf, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }

/** Windows opens a device for these, whatever comes after a dot. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(\s*\.|\s*$)/i

/** Cuts a name to what file systems accept, but keeps its extension. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  return cut(name.slice(0, name.length - ending.length), longest - Buffer.byteLength(ending)) + ending
}

/** The letters of a text that fit into that many bytes. */
function cut(text: string, bytes: number): string {
  let room = bytes
  let start = ''
  for (const letter of text) {
    room -= Buffer.byteLength(letter)
    if (room < 0) break
    start += letter
  }
  return start
}

/** A name with a mark before its extension, cut before the mark if it gets too long: `data (2).csv`. */
export function withMark(name: string, mark: string): string {
  const dot = name.lastIndexOf('.')
  const [start, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const after = Buffer.byteLength(mark + ending) < longest ? mark + ending : mark
  return cut(start, longest - Buffer.byteLength(after)) + after
}

/**
 * Gives each remote name of a folder a distinct local one. Several may become equal, by mapping or since the system
 * does not distinguish `A` from `a`.
 */
export class LocalNames {
  readonly #system: NamesOf
  readonly #taken = new Set<string>()
  /** The next number to try for a name, so that thousands of equal names are not counted through each time. */
  readonly #next = new Map<string, number>()

  constructor(system: NamesOf) {
    this.#system = system
  }

  /** Undefined if the name can never be a file name here. */
  claim(remote: string): string | undefined {
    const name = localName(remote, this.#system)
    if (name === undefined) return undefined
    for (let number = this.#next.get(name) ?? 1; ; number++) {
      const candidate = number === 1 ? name : withMark(name, ` (${number})`)
      const key = this.#system === 'linux' ? candidate : candidate.normalize('NFC').toLowerCase()
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      this.#next.set(name, number + 1)
      return candidate
    }
  }
}
