import { Readable, type Transform } from 'node:stream'
import { plainLines } from '../../ssh/inside/plain-lines.ts'
import type { RunOutput } from './output.ts'

/** Kept output as lines of plain text, and what is added to it for as long as somebody reads. */
export function outputStream(output: RunOutput): Transform {
  let at = 0
  let waits = false
  const source = new Readable({
    read() {
      waits = true
      give()
    },
    destroy(_error, done) {
      stop()
      done(null)
    },
  })
  function give(): void {
    if (!waits) return
    const { texts, next } = output.pieces(at)
    if (texts.length === 0) return
    waits = false
    at = next
    source.push(texts.join(''))
  }
  const stop = output.onAppend(give)
  const lines = plainLines()
  lines.once('close', () => source.destroy())
  source.pipe(lines)
  return lines
}
