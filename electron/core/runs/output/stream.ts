import { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { openEscape, plainOutput } from '#ssh/monitor/plain-output.ts'
import type { RunOutput } from './output.ts'

/** Bytes read at a time. */
const block = 64 * 1024

/** Stored output from a byte on, as plain text with cursor movements, followed by additions while it is read. */
export function outputStream(output: RunOutput, from: number): Duplex {
  const decoder = new StringDecoder('utf8')
  let at = from
  /** The beginning of an unfinished escape sequence. */
  let open = ''
  let wanted = false
  let reading = false
  const stop = output.onAppend(() => void give())

  /** Reads until there is text to deliver, or all was delivered. */
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
    // An addition while the end was being read called nobody.
    if (wanted && at < output.next() && !stream.destroyed) void give()
  }

  const stream: Duplex = new Duplex({
    read() {
      wanted = true
      void give()
    },
    // The page sends nothing.
    write: (_chunk, _encoding, done) => done(),
    destroy(error, done) {
      stop()
      done(error)
    },
  })
  return stream
}
