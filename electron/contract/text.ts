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

/** The text, cut with an ellipsis where it has more than so many characters. */
export function shortened(text: string, most: number): string {
  const letters = [...text]
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text
}

/** The text without any of these characters at its end. In one pass, which `/[…]+$/` is not. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
