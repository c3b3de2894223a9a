import { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { RunOutput } from './output.ts'
import { openEscape, plainOutput } from './plain.ts'

/** Bytes that are read at a time. */
const block = 64 * 1024

/** Kept output from a byte on as plain text with its moves, and what is added to it for as long as somebody reads. */
export function outputStream(output: RunOutput, from: number): Duplex {
  const decoder = new StringDecoder('utf8')
  let at = from
  /** The beginning of an escape whose rest has not come. */
  let open = ''
  let wanted = false
  let reading = false
  const stop = output.onAppend(() => void give())

  /** Reads until there is something to give, or all was given. */
  async function give(): Promise<void> {
    if (reading || !wanted) return
    reading = true
    try {
      while (wanted && !stream.destroyed) {
        const piece = await output.read(at, block)
        if (piece.bytes.length === 0) break
        at = piece.at + piece.bytes.length
        const text = open + decoder.write(piece.bytes)
        const cut = openEscape(text)
        open = cut < 0 ? '' : text.slice(cut)
        const plain = plainOutput(cut < 0 ? text : text.slice(0, cut))
        if (plain === '') continue
        wanted = false
        stream.push(plain)
      }
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error('the output could not be read'))
    } finally {
      reading = false
    }
    // What came while the end was being read was told to nobody.
    if (wanted && at < output.next() && !stream.destroyed) void give()
  }

  const stream: Duplex = new Duplex({
    read() {
      wanted = true
      void give()
    },
    // Nothing is said to it.
    write: (_chunk, _encoding, done) => done(),
    destroy(error, done) {
      stop()
      done(error)
    },
  })
  return stream
}
