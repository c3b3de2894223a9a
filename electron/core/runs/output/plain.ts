import { stripVTControlCharacters } from 'node:util'
import { withoutEnd } from '../../../contract/text.ts'

/**
 * Output as text for the page. Of the escape sequences, only those that redraw progress are kept: after `\r` the line
 * is overwritten, `\v` goes to the line above. Overwritten text is dropped.
 */
export function plainOutput(text: string): string {
  if (!special.test(text)) return text
  const plain = blocksOf(text).map(withoutEscapes).join('')
  return plain.includes('\r')
    ? plain
        .split(/([\n\v])/)
        .map(lastWritten)
        .join('')
    : plain
}

function withoutEscapes(text: string): string {
  const moves = text
    .replaceAll(/[\v\f]/g, '')
    .replaceAll(upwards, (_, lines) => '\v'.repeat(mostLines(lines)))
  return stripVTControlCharacters(moves).replaceAll('\t', '    ').replaceAll(unprintable, '')
}

/** Characters cleaned at a time: replacing a million matches in one long text is slower than in several short ones. */
const block = 32_768

/** The text in blocks, none of which ends inside an escape sequence. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + block)
    const open = at + block < text.length ? openEscape(piece) : -1
    blocks.push(open > 0 ? piece.slice(0, open) : piece)
    at += open > 0 ? open : piece.length
  }
  return blocks
}

/** A line after carriage returns, without the overwritten text. */
function lastWritten(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end -= 1
  const from = end === 0 ? -1 : line.lastIndexOf('\r', end - 1)
  return from < 0 ? line : line.slice(from)
}

/** A line of output in its final state. */
export function plainLastLine(line: string): string {
  const seen = withoutEnd(plainOutput(line), '\r\v')
  return seen.slice(Math.max(seen.lastIndexOf('\r'), seen.lastIndexOf('\v')) + 1)
}

/** Where an unfinished escape sequence begins, whose rest may still arrive; -1 for none. */
export function openEscape(text: string): number {
  const at = text.lastIndexOf('\u001b')
  return at >= 0 && text.length - at < longestEscape && !wholeEscape.test(text.slice(at)) ? at : -1
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what escapes are made of.
const upwards = /\u001b\[(\d*)A/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
const wholeEscape = /^\u001b(\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*\u0007|[^[\]])/
const longestEscape = 64
/** Control characters other than cursor movements, and those that reverse the direction of text. */
const unprintable = /(?![\n\r\v])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them but the line feed.
const special = /[\0-\t\v-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

function mostLines(lines: string): number {
  return Math.min(50, Number(lines || 1))
}
