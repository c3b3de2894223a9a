/**
 * Parses JSON; undefined if it is invalid, since the parser's message would quote it. `NaN` and `Infinity`, which some
 * services write although JSON has no such words, become null.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return /NaN|Infinity/.test(text) ? parsed(withoutNaN(text)) : undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Replaces `NaN` and `Infinity` outside of strings. An unterminated string extends to the end. */
function withoutNaN(text: string): string {
  const pieces: string[] = []
  let at = 0
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    const outside = text.slice(at, quote < 0 ? text.length : quote)
    pieces.push(outside.replace(/-?(?:NaN|Infinity)/g, 'null'))
    if (quote < 0) break
    const end = endOfText(text, quote + 1)
    pieces.push(text.slice(quote, end))
    at = end
  }
  return pieces.join('')
}

/** The end of the string that begins at `from`, after its closing quote. */
function endOfText(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}
