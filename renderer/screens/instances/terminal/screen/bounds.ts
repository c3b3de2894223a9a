import type { Terminal } from '@xterm/xterm'

/** What xterm does once for each of a count: repeating a letter, tabs, and lines that come, go or scroll by. */
const counted = ['b', 'I', 'Z', 'L', 'M', 'S', 'T']
/** More than any screen has lines or columns. */
const most = 1000

/** Passes over counts that no program means: xterm would take them at their word, and hold the page for hours. */
export function boundCounts({ parser }: Pick<Terminal, 'parser'>): void {
  for (const final of counted)
    parser.registerCsiHandler({ final }, ([count]) => typeof count === 'number' && count > most)
}

/** More marks on one letter than any writing has: it is drawn as one, which takes the page seconds for thousands. */
const tooManyMarks = /([\p{M}\p{Cf}]{16})[\p{M}\p{Cf}]+/gu

/** Reads what a shell prints as text, with no more marks on a letter than can be drawn. */
export function boundedText(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder()
  return bytes => {
    const text = decoder.decode(bytes, { stream: true })
    // As many letters as bytes are ASCII, but for what ends a letter begun before: nearly all that programs print.
    return text.length === bytes.length ? text : text.replaceAll(tooManyMarks, '$1')
  }
}
