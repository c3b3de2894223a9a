/** Limits on a text from an untrusted source. */
export interface LineBounds {
  lines: number
  /** Characters of a line; the rest of a longer one is cut. */
  length: number
}

/** The first lines of a text, each cut, which limits the output that a host can make Berth parse. */
export function firstLines(text: string, most: LineBounds): string[] {
  const lines: string[] = []
  for (let at = 0; at <= text.length && lines.length < most.lines; ) {
    const feed = text.indexOf('\n', at)
    const end = feed < 0 ? text.length : feed
    lines.push(text.slice(at, Math.min(end, at + most.length)))
    at = end + 1
  }
  return lines
}

// Made when first needed, since it takes longer than everything else in Berth's first lines.
let graphemes: Intl.Segmenter | undefined

/** The text, cut with an ellipsis where it has more than so many letters as a reader counts them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  let end = 0
  let count = 0
  // A letter may have marks without end.
  for (const { segment, index } of graphemes.segment(text.slice(0, 20 * most))) {
    if (count === most - 1) end = index
    count += 1
    if (count > most) return `${text.slice(0, end)}…`
    if (index + segment.length === text.length) return text
  }
  return `${text.slice(0, end || 20 * most)}…`
}

/** The text, with an ellipsis in its middle where it has more than so many letters: names often differ at their end. */
export function withoutMiddle(text: string, most: number): string {
  if (shortened(text, most) === text) return text
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  const left = Math.floor(most / 2)
  const end = [...graphemes.segment(text.slice(-20 * left))].slice(-left).map(({ segment }) => segment)
  return `${shortened(text, most - left)}${end.join('')}`
}

/** Signs that nobody sees, or that turn the direction of text, with which one word can be made to look like another. */
const unseen =
  /(?!\u200c|\u200d|\ufe0e|\ufe0f|[\u{e0020}-\u{e007f}])[\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu
/** The letters of a region, but for those that make a flag. */
const tags = /(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]{0,6})[\u{e0020}-\u{e007f}]/gu
/** Foreign text as one line that can be seen: no control characters, nothing unseen, and no halves of letters. */
export function plainText(text: string): string {
  const line = text
    .replaceAll(/\p{Cs}/gu, '\ufffd')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(unseen, '')
    .replaceAll(tags, '')
    .trim()
  // What joins or varies emoji and parts letters of Persian is nothing alone.
  return /(?!\u200c|\u200d|\ufe0e|\ufe0f)\S/u.test(line) ? withoutEnd(line, ' \u200c\u200d') : ''
}

/** The text without any of these characters at its end. In one pass, which `/[…]+$/` is not. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** The text of a file without the mark in front that some editors save with it. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Stands for a secret. */
export const cover = '••••••'
