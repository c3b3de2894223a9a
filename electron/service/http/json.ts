/**
 * Parses JSON; undefined if it is invalid, since the parser's message would quote it. `NaN` and `Infinity`, which some
 * services write although JSON has no such words, become null, as do numbers beyond the safe integers: nothing that a
 * service counts is as large, and what is computed from them could not be stored.
 */
export function parseJson(text: string): unknown {
  try {
    return mayExceed.test(text) ? withoutHuge(JSON.parse(text)) : JSON.parse(text)
  } catch {
    return /NaN|Infinity/.test(text) ? parsed(withoutNaN(text)) : undefined
  }
}

function parsed(text: string): unknown {
  try {
    return withoutHuge(JSON.parse(text))
  } catch {
    return undefined
  }
}

/**
 * Sixteen digits in front of a point, or an exponent of two. In most answers there are none, and looking is cheap: V8
 * skips ahead in a text by digits that are written one by one, but not by `\d{16}`.
 */
const mayExceed = /[:,[\s]-?\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d|\d[eE]\+?\d\d/

/** The same value without numbers beyond the safe integers, in place. */
function withoutHuge(value: unknown): unknown {
  const whole = [value]
  const pending: object[] = [whole]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const fields = next as Record<string, unknown>
    for (const [name, one] of Object.entries(fields)) {
      if (typeof one === 'object' && one !== null) pending.push(one)
      else if (typeof one === 'number' && Math.abs(one) > Number.MAX_SAFE_INTEGER) fields[name] = null
    }
  }
  return whole[0]
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
