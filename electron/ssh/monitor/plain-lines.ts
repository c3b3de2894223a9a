import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { withoutEnd } from '#contract/text.ts'
import { plainLastLine } from './plain-output.ts'

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
