import type { Terminal } from '@xterm/xterm'

/** Sequences that xterm repeats as often as their count says: a letter, tabs, and inserted, deleted or scrolled lines. */
const counted = ['b', 'I', 'Z', 'L', 'M', 'S', 'T']
/** More lines or columns than any screen has. */
const most = 1000

/** Ignores absurd counts: xterm would obey them and block the page for hours. */
export function boundCounts({ parser }: Pick<Terminal, 'parser'>): void {
  for (const final of counted)
    parser.registerCsiHandler({ final }, ([count]) => typeof count === 'number' && count > most)
}

/** More combining marks than a letter of any script has: drawing thousands on one letter blocks the page for seconds. */
const tooManyMarks = /([\p{M}\p{Cf}]{16})[\p{M}\p{Cf}]+/gu

/** Decodes a shell's output, with a bounded number of combining marks on a letter. */
export function boundedPrint(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder()
  return bytes => {
    const text = decoder.decode(bytes, { stream: true })
    // As many letters as bytes means plain ASCII (unless it completes an earlier letter), as most output is.
    return text.length === bytes.length ? text : text.replaceAll(tooManyMarks, '$1')
  }
}
