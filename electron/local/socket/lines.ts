import type { Socket } from 'node:net'
import type { MainMessage, PageMessage } from '#contract/bridge/messages.ts'

/** The most bytes of one message to Berth. */
export const longestLine = 1024 * 1024

const lineFeed = 10

/** The wire format of the command's socket: one JSON text per line, with the bytes of `data` in base64. */
export function encodeLine(message: PageMessage | MainMessage): string {
  const sent =
    message.kind === 'data' ? { ...message, bytes: Buffer.from(message.bytes).toString('base64') } : message
  return `${JSON.stringify(sent)}\n`
}

/** The message of a line, of which only the outer form is checked; undefined where that is wrong. */
export function decodeLine(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line)
    if (typeof message !== 'object' || message === null) return undefined
    if (!('kind' in message) || message.kind !== 'data') return message
    const bytes = 'bytes' in message && typeof message.bytes === 'string' ? message.bytes : ''
    return { ...message, bytes: new Uint8Array(Buffer.from(bytes, 'base64')) }
  } catch {
    return undefined
  }
}

/** Calls back for each line, and once for a line longer than `most` bytes, after which it ignores all others. */
export function onLines(
  socket: Socket,
  onLine: (line: string) => void,
  most = Number.POSITIVE_INFINITY,
  onTooLong: () => void = () => undefined,
): void {
  let pieces: Buffer[] = []
  let length = 0
  let over = false

  function take(piece: Buffer): void {
    length += piece.length
    pieces.push(piece)
  }

  socket.on('data', (chunk: Buffer) => {
    for (let from = 0; from < chunk.length && !over; ) {
      const end = chunk.indexOf(lineFeed, from)
      take(chunk.subarray(from, end < 0 ? chunk.length : end))
      if (length > most) {
        over = true
        pieces = []
        onTooLong()
      } else if (end >= 0) {
        const line = Buffer.concat(pieces).toString('utf8')
        pieces = []
        length = 0
        onLine(line)
      }
      from = end < 0 ? chunk.length : end + 1
    }
  })
}
