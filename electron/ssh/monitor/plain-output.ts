import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import { moves, outputRows } from '#shared/automation/output-rows.ts'
import { withoutEnd } from '#shared/text.ts'

/**
 * Output as text for the page. Of the escape sequences, only those that redraw progress are kept, each as the signs of
 * `moves`. Text that was overwritten as a whole is dropped.
 */
export function plainOutput(text: string): string {
  if (!special.test(text)) return text
  const plain = blocksOf(text).map(withoutEscapes).join('')
  return /[\r\b]/.test(plain) ? plain.split(otherRows).map(lastWritten).join('') : plain
}

function withoutEscapes(text: string): string {
  const moved = text
    .replaceAll(rawMoves, '')
    .replaceAll(cursorMoves, (_, first, second, sign, alone) =>
      alone === undefined ? movesOf(sign, first, second) : alone === '7' ? moves.save : moves.restore,
    )
  return stripVTControlCharacters(moved).replaceAll('\t', '    ').replaceAll(unprintable, '')
}

/** The moves that stand for an escape sequence that ends with this sign. */
function movesOf(sign: string, first: string, second: string | undefined): string {
  const times = Number(first || 1)
  const rows = Math.min(most.rows, times)
  const columns = Math.min(most.columns, times)
  switch (sign) {
    case 'A':
    case 'F':
      return moves.up.repeat(rows)
    case 'B':
    case 'E':
      return moves.down.repeat(rows)
    case 'C':
      return moves.right.repeat(columns)
    case 'D':
      // So far to the left is meant as the beginning.
      return columns < most.columns ? moves.left.repeat(columns) : moves.start
    case 'G':
    case '`':
      return moves.start + moves.right.repeat(Math.max(0, columns - 1))
    // There is no screen to place it on: text printed at its own position gets its own row.
    case 'H':
    case 'f':
      return moves.down + moves.right.repeat(Math.max(0, Math.min(most.columns, Number(second || 1)) - 1))
    case 'J':
      return first === '' || first === '0' ? moves.clear : ''
    case 'K':
      return first === '' || first === '0' ? moves.clear : first === '2' ? moves.start + moves.clear : ''
    case 's':
      return moves.save
    default:
      return moves.restore
  }
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

/** A row's text without its overwritten parts; text before it is unknown. */
function lastWritten(text: string): string {
  let end = text.length
  while (text[end - 1] === moves.start) end -= 1
  let from = end === 0 ? -1 : text.lastIndexOf(moves.start, end - 1)
  // Where the cursor moves right again, existing text stays.
  while (from > 0 && text[from + 1] === moves.right) from = text.lastIndexOf(moves.start, from - 1)
  const row = from < 0 || text[from + 1] === moves.right ? text : text.slice(from)
  return row.includes(moves.left) ? withoutBackspaced(row) : row
}

/** Drops each character that a backspace returns to and another is printed over. */
function withoutBackspaced(row: string): string {
  const lines: string[] = []
  let back = 0
  for (const sign of row) {
    if (sign === moves.left) {
      back += 1
      continue
    }
    while (back > 0 && lines.length > 0 && !isMove(sign) && !isMove(lines.at(-1))) {
      lines.pop()
      back -= 1
    }
    if (back > 0) lines.push(moves.left.repeat(back))
    lines.push(sign)
    back = 0
  }
  return lines.join('') + moves.left.repeat(back)
}

function isMove(sign: string | undefined): boolean {
  return sign === undefined || sign < ' ' || sign === moves.clear
}

/** A line of output in its final state. */
export function plainLastLine(line: string): string {
  const plain = withoutEnd(plainOutput(line), '\r\v')
  if (!anyMove.test(plain)) return plain
  return outputRows()(plain).findLast(row => row.trim() !== '') ?? ''
}

/** Where an unfinished escape sequence begins, whose rest may still arrive; -1 for none. */
export function openEscape(text: string): number {
  const at = text.lastIndexOf('\u001b')
  return at >= 0 && text.length - at < longestEscape && !wholeEscape.test(text.slice(at)) ? at : -1
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what escapes are made of.
const cursorMoves = /\u001b(?:\[(\d{0,9})(?:;(\d{0,9}))?([A-HJKfsu`])|([78]))/g
/** Characters that would be mistaken for moves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
const rawMoves = /[\v\f\u007f\u000e\u000f]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the moves.
const anyMove = /[\n\r\v\b\f\u007f\u000e\u000f]/
/** The ends of a row's text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
const otherRows = /([\n\v\u000e\u000f])/
/** Rows and columns of one move, at most. */
const most = { rows: 50, columns: 200 }
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
const wholeEscape = /^\u001b(\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*\u0007|[^[\]])/
const longestEscape = 64
/** Control characters other than moves, and those that reverse the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the moves.
const unprintable = /(?![\n\r\v\b\f\u007f\u000e\u000f])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of them but the line feed.
const special = /[\0-\t\v-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** The most characters of a line; longer ones are split. */
const longestLine = 4096

/**
 * A terminal's output as lines of plain text, without escape sequences. Of a line that was overwritten, as by a
 * progress bar, the last text stays.
 */
export function plainLines(): Transform {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      const whole = lines.flatMap(line => inPieces(plainLastLine(line)))
      const begun = inPieces(rest)
      rest = begun.pop() ?? ''
      done(null, [...whole, ...begun].map(piece => `${plainLine(piece)}\n`).join(''))
    },
    flush(done) {
      done(null, rest === '' ? '' : `${plainLine(rest)}\n`)
    },
  })
}

/** One line of plain text, cut to the same length. */
export function plainLine(line: string): string {
  const written = withoutEnd(line, '\r')
  const last = written.slice(written.lastIndexOf('\r') + 1)
  return plainLastLine(last.slice(0, longestLine)).slice(0, longestLine)
}

function inPieces(line: string): string[] {
  const pieces = [line.slice(0, longestLine)]
  for (let at = longestLine; at < line.length; at += longestLine)
    pieces.push(line.slice(at, at + longestLine))
  return pieces
}
