/** A word as it is written, quotes and all, and the space before it. */
export interface Word {
  before: string
  text: string
}

/** The words of a text, split as a shell does; `rest` is what follows them: space, or all from a quote that stays open. */
export function firstWords(text: string): { words: Word[]; rest: string } {
  const words: Word[] = []
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

/** What a word says, its quotes and escapes taken off. */
export function unquoted(word: string): string {
  return word.replace(
    /"((?:\\[\s\S]?|[^"\\])*)"?|'([^']*)'|\\([\s\S])/g,
    (_, double?: string, single?: string, escaped?: string) =>
      double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? '',
  )
}

/** A word that says `start` and `text`, the latter quoted where that is needed; every shell and parser reads it alike. */
export function quoted(start: string, text: string): string {
  const bare = /^[A-Za-z0-9_@%+=:,./-]*$/
  if (!bare.test(start)) return quoted('', start + text)
  if (bare.test(text)) return start + text
  return start + text.replace(/[^']+|'+/g, part => (part.startsWith("'") ? `"${part}"` : `'${part}'`))
}
