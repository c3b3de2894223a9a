import type { Patches } from 'mutative'
import type { Problem } from '../shared/problem.ts'
import type { State } from '../shared/state.ts'

/** From the page to the main process. */
export type PageMessage =
  | { kind: 'command'; call: number; name: string; args: unknown }
  /** The page needs that answer no longer. */
  | { kind: 'withdraw'; call: number }
  /** The page is new or missed a patch, and needs the whole State. */
  | { kind: 'sync' }
  | StreamMessage

/** From the main process to the page. */
export type MainMessage =
  | { kind: 'state'; sequence: number; state: State }
  /** Turns the state of `sequence - 1` into that of `sequence`. */
  | { kind: 'patch'; sequence: number; patches: Patches }
  | { kind: 'answer'; call: number; answer: unknown }
  | { kind: 'refusal'; call: number; problem: Problem }
  | StreamMessage

/**
 * Bytes in either direction. A side sends no more than the other has granted: `streamWindow` bytes at first, and those
 * that `grant` adds as they are consumed.
 */
export type StreamMessage =
  | { kind: 'data'; stream: number; bytes: Uint8Array }
  | { kind: 'grant'; stream: number; bytes: number }
  /** This side sends no more bytes and accepts none. */
  | { kind: 'end'; stream: number; problem?: Problem }

/** Bytes that may be sent before the first grant. */
export const streamWindow = 256 * 1024

/** The preload's `window.berth` in the page; browser mode's socket replaces it. */
export interface Bridge {
  post(message: PageMessage): void
  /** Sets the only listener, replacing an earlier one. */
  listen(listener: (message: MainMessage) => void): void
}

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
