import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

/** Characters of a line; what is longer comes in pieces. */
const longestLine = 4096

/**
 * A terminal's output as lines of plain text: escapes are left out, and of a line that was written over, as progress
 * is shown, what was written last stays.
 */
export function plainLines(): Transform {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      const out = lines.map(line => `${plainLine(line)}\n`)
      while (rest.length > longestLine) {
        out.push(`${plainLine(rest.slice(0, longestLine))}\n`)
        rest = rest.slice(longestLine)
      }
      done(null, out.join(''))
    },
    flush(done) {
      done(null, rest === '' ? '' : `${plainLine(rest)}\n`)
    },
  })
}

export function plainLine(line: string): string {
  const written = line.replace(/\r+$/, '').split('\r').at(-1) ?? ''
  return stripVTControlCharacters(written)
    .replaceAll('\t', '    ')
    .replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '')
    .slice(0, longestLine)
}
