import type { MainMessage, PageMessage } from './messages.ts'

/**
 * Encodes a message for the browser mode's socket: `data` as a binary frame of the stream's number (4 bytes,
 * big-endian) and the bytes, all others as JSON text.
 */
export function encodeMessage(message: PageMessage | MainMessage): string | Uint8Array<ArrayBuffer> {
  if (message.kind !== 'data') return JSON.stringify(message)
  const frame = new Uint8Array(4 + message.bytes.length)
  new DataView(frame.buffer).setUint32(0, message.stream)
  frame.set(message.bytes, 4)
  return frame
}

/** The message in a frame, not yet checked; undefined if the frame is malformed. */
export function decodeMessage(frame: string | Uint8Array): unknown {
  if (typeof frame === 'string') {
    try {
      return JSON.parse(frame)
    } catch {
      return undefined
    }
  }
  if (frame.length < 4) return undefined
  const stream = new DataView(frame.buffer, frame.byteOffset, 4).getUint32(0)
  return { kind: 'data', stream, bytes: frame.subarray(4) }
}
