/** A word as it is written, quotes and all, and the space before it. */
export interface PastedWord {
  before: string
  text: string
}

/** The words of a text, split as a shell does; `rest` is what follows them: space, or all from a quote that stays open. */
export function firstWords(text: string): { words: PastedWord[]; rest: string } {
  const words: PastedWord[] = []
  let at = 0
  for (;;) {
    const [whole, before = '', word = ''] = nextWord(text, at) ?? []
    if (whole === undefined) return { words, rest: text.slice(at) }
    const end = at + whole.length
    // A quote begins right where the word ended: it is never closed, or it would have been taken.
    if (/["'\\]/.test(text.charAt(end))) return { words, rest: text.slice(at) }
    words.push({ before, text: word })
    at = end
  }
}

function nextWord(text: string, from: number): RegExpExecArray | null {
  const word = /((?:\s|\\\r?\n)*)((?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\(?!\r?\n)[\s\S]|[^\s"'\\])+)/y
  word.lastIndex = from
  return word.exec(text)
}

/** The words of one command, and where it ends in its text. */
export interface PastedLine {
  words: PastedWord[]
  /** The index after it, and after the comment behind it. */
  end: number
  /** A quote stays open; all behind it belongs to no word. */
  open: boolean
}

/**
 * The words of the command that begins at `from`, as a shell splits them: up to a line's end that is neither quoted nor
 * continued by `\`, by `^` as in Windows' shell, or by a backtick as in PowerShell. A comment is no word.
 */
export function commandLine(text: string, from: number): PastedLine {
  const words: PastedWord[] = []
  let at = from
  for (;;) {
    const before = matchAt(/(?:[^\S\n]|[\\^`][^\S\n]*\n)*/y, text, at)
    at += before.length
    if (text.charAt(at) === '#' && (before !== '' || words.length === 0)) {
      const lineEnd = text.indexOf('\n', at)
      return { words, end: lineEnd < 0 ? text.length : lineEnd, open: false }
    }
    const word = matchAt(/(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\(?![^\S\n]*\n)[\s\S]|[^\s"'\\])+/y, text, at)
    at += word.length
    if (word !== '') words.push({ before, text: word })
    const next = text.charAt(at)
    if (next === '"' || next === "'") return { words, end: at, open: true }
    if (word === '' && (next === '' || next === '\n')) return { words, end: at, open: false }
    // A backslash at the very end continues to nothing.
    if (word === '' && before === '') at++
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** Whether a shell would put something of its own into a word: a variable's value, or a command's answer. */
export function isExpanded(word: string): boolean {
  const active = word.replace(
    /"((?:\\[\s\S]?|[^"\\])*)"?|'[^']*'|\\[\s\S]/g,
    (_, double?: string) => double?.replace(/\\[\s\S]/g, '') ?? '',
  )
  return /\$[A-Za-z_{(]|`|=%[A-Za-z_]\w*%$/.test(active)
}

/** A word's value without quotes and escapes. */
export function unquoted(word: string): string {
  return word.replace(
    /"((?:\\[\s\S]?|[^"\\])*)"?|'([^']*)'|\\([\s\S])/g,
    (_, double?: string, single?: string, escaped?: string) =>
      double?.replace(/\\(?:(["\\$`])|\r?\n)/g, '$1') ?? single ?? escaped ?? '',
  )
}

/** A word that says `start` and `text`, the latter quoted where that is needed; every shell and parser reads it alike. */
export function quoted(start: string, text: string): string {
  const bare = /^[A-Za-z0-9_@%+=:,./-]*$/
  if (!bare.test(start)) return quoted('', start + text)
  if (bare.test(text)) return start + text
  return start + text.replace(/[^']+|'+/g, part => (part.startsWith("'") ? `"${part}"` : `'${part}'`))
}
