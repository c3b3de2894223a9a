import type { Patches } from 'mutative'
import type { Problem } from '../problem.ts'
import type { State } from '../state.ts'

/** From the page to the main process. */
export type PageMessage =
  | { kind: 'command'; call: number; name: string; args: unknown }
  /** The page missed a patch, or has just come: send the whole. */
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
 * Bytes that flow, either way. A side sends no more than the other has granted: `streamWindow` bytes to begin
 * with, and whatever `grant` adds as they are consumed.
 */
export type StreamMessage =
  | { kind: 'data'; stream: number; bytes: Uint8Array }
  | { kind: 'grant'; stream: number; bytes: number }
  /** No more comes from this side and none is wanted. */
  | { kind: 'end'; stream: number; problem?: Problem }

/** Bytes that may be under way before the first grant. */
export const streamWindow = 256 * 1024

/** What the preload puts on the page's `window.berth`, and what the browser mode's socket stands in for. */
export interface Bridge {
  post(message: PageMessage): void
  /** One listener; the last one set. */
  listen(listener: (message: MainMessage) => void): void
}
