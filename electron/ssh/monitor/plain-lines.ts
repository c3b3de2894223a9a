import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import { withoutEnd } from '../../contract/text.ts'

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
      const whole = lines.flatMap(line => inPieces(lastWritten(line)))
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
  return stripVTControlCharacters(lastWritten(line).slice(0, longestLine))
    .replaceAll('\t', '    ')
    .replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '')
    .slice(0, longestLine)
}

function lastWritten(line: string): string {
  const written = withoutEnd(line, '\r')
  return written.slice(written.lastIndexOf('\r') + 1)
}

function inPieces(line: string): string[] {
  const pieces = [line.slice(0, longestLine)]
  for (let at = longestLine; at < line.length; at += longestLine)
    pieces.push(line.slice(at, at + longestLine))
  return pieces
}
