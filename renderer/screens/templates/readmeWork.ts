/** The limits of a formatted readme. Beyond them it is shown as plain text. */
export const readmeBounds = {
  characters: 262_144,
  /** Depth of nested quotes and lists. */
  nesting: 32,
  /** HTML formatting tags that are open at once: a browser opens all of them again in each paragraph. */
  open: 64,
  /** Comparisons of characters, about a nanosecond each. */
  work: 300_000_000,
}

/** Whether formatting it takes too long, or nests too deeply for a parser. Reads each character a few times. */
export function isTooMuch(text: string): boolean {
  return text.length > readmeBounds.characters || mostOpen(text) > readmeBounds.open || isKnotty(text)
}

/**
 * Estimates a Markdown parser's work: it searches the rest of the paragraph for the end of each emphasis, the rest of
 * the word for an address, and the whole list once for each of its items.
 */
function isKnotty(text: string): boolean {
  let work = 0
  let items = 0
  let paragraph = { length: 0, delimiters: 0 }
  const endParagraph = () => {
    work += paragraph.length * paragraph.delimiters
    paragraph = { length: 0, delimiters: 0 }
  }
  for (const line of text.split('\n')) {
    const { nesting, item, from } = readMarkers(line)
    if (nesting > readmeBounds.nesting) return true
    if (item) items += 1
    if (item || from === line.length || line.startsWith('# ', from)) endParagraph()
    let word = 0
    for (let at = from; at <= line.length; at += 1) {
      const character = line.charAt(at)
      if (character === '*' || character === '_') paragraph.delimiters += 1
      if (isSpace(character) || character === '') {
        work += word * word
        word = 0
      } else word += 1
    }
    paragraph.length += line.length - from
  }
  endParagraph()
  return work + (items * items) / 8 > readmeBounds.work
}

/** The markers of quotes and list items at the start of a line, and where their text begins. */
function readMarkers(line: string): { nesting: number; item: boolean; from: number } {
  let nesting = 0
  let item = false
  let at = 0
  for (;;) {
    while (isSpace(line.charAt(at))) at += 1
    let end = at
    while (end - at < 9 && isDigit(line.charAt(end))) end += 1
    const numbered = end > at && (line[end] === '.' || line[end] === ')')
    const bullet = end === at && ['-', '+', '*'].includes(line.charAt(at))
    if (line[at] === '>') at += 1
    else if ((numbered || bullet) && (isSpace(line.charAt(end + 1)) || end + 1 >= line.length)) {
      item = true
      at = end + 1
    } else return { nesting, item, from: at }
    nesting += 1
  }
}

const tags = new Set([
  ...['a', 'b', 'big', 'code', 'em', 'font', 'i', 'nobr', 's', 'small', 'strike', 'strong', 'tt', 'u'],
])

function mostOpen(text: string): number {
  const open = new Map<string, number>()
  let now = 0
  let most = 0
  for (const [, closing, name = ''] of text.matchAll(/<(\/?)([a-z]{1,6})(?![a-z])/gi)) {
    const tag = name.toLowerCase()
    const before = open.get(tag) ?? 0
    if (!tags.has(tag) || (closing && before === 0)) continue
    open.set(tag, before + (closing ? -1 : 1))
    now += closing ? -1 : 1
    most = Math.max(most, now)
  }
  return most
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t' || character === '\r'
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9'
}
