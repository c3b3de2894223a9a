import type { Readable } from 'node:stream'
import { count } from '#shared/format/size.ts'

/** Limits on an answer, which is aborted as soon as it exceeds them. */
export interface AnswerBound {
  /** Decompressed bytes. */
  bytes: number
  /** Values after the first {@link UNCOUNTED_BYTES}, weighted as in {@link Density}. */
  values: number
}

const MB = 1_000_000

/**
 * A search with 20,000 offers has 15 MB and 0.94 million values, a list of 1,000 instances 1.4 MB. The values of a
 * single record are not counted, since it is too small.
 */
export const answerBounds = {
  single: { bytes: MB, values: 0 },
  list: { bytes: 16 * MB, values: 400_000 },
  search: { bytes: 32 * MB, values: 1_200_000 },
} satisfies Record<string, AnswerBound>

/** Up to this size values are not counted: even dense JSON needs less memory, once parsed, than a large search. */
const UNCOUNTED_BYTES = 1_500_000
/** The most different keys in an answer, of all records together. */
const MOST_KEYS = 20_000
/** Only the beginning of a refusal is read. */
const REFUSAL_BYTES = 64_000

/** An answer that exceeded its bound. */
export class AnswerTooLarge extends Error {
  /** The exceeded bound, such as `32 MB` or `1.2 million values`. */
  readonly met: string

  constructor(met: string) {
    super('answer too large')
    this.met = met
  }
}

/**
 * The answer's text; if its status is not 2xx, little more than the first 64 KB. @throws AnswerTooLarge as soon as the
 * bound is exceeded, and closes the connection; or the errors of Node’s `http`
 */
export async function boundedText(
  { status, body }: { status: number; body: Readable },
  bound: AnswerBound,
): Promise<string> {
  const isRefusal = status < 200 || status > 299
  const chunks: Buffer[] = []
  let density: Density | undefined
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (isRefusal && bytes > REFUSAL_BYTES) break
    if (bytes > UNCOUNTED_BYTES) {
      density ??= new Density()
      density.add(chunk)
    }
    const met = boundMet(bytes, density, bound)
    if (met !== undefined) throw new AnswerTooLarge(met)
  }
  // Twice as fast as a `TextDecoder`, which would leave out the byte order mark.
  return Buffer.concat(chunks)
    .toString()
    .replace(/^\uFEFF/, '')
}

function boundMet(bytes: number, density: Density | undefined, bound: AnswerBound): string | undefined {
  if (bytes > bound.bytes) return `${bound.bytes / MB} MB`
  if (density === undefined) return undefined
  if (density.values > bound.values) return `${bound.values / MB} million values`
  if (density.keys > MOST_KEYS) return `${count(MOST_KEYS)} different fields`
  return undefined
}

const COMMA = 0x2c
const QUOTE = 0x22
const COLON = 0x3a
const OPEN_LIST = 0x5b
const OPEN_OBJECT = 0x7b
/** The memory of an empty object or list, in values. */
const OPEN_WEIGHT = 8
/** The most bytes of a key that are compared. */
const KEY_BYTES = 64

/**
 * Estimates how much JSON grows when parsed: `{},{},…` becomes twenty times larger, and so do many different keys. It
 * counts bytes without parsing, so brackets and commas inside of texts count too.
 */
class Density {
  /** A comma counts 1, an opening bracket 8. */
  values = 0
  /** Different keys. */
  keys = 0
  readonly #seen = new Uint8Array(1 << 20)

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === COMMA) this.values++
      else if (byte === COLON) this.#addKey(chunk, at)
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.values += OPEN_WEIGHT
    }
  }

  /** Counts the key that ends before the colon. */
  #addKey(chunk: Uint8Array, colon: number): void {
    if (chunk[colon - 1] !== QUOTE) return
    let hash = 0
    for (let at = colon - 2; at >= 0 && at > colon - KEY_BYTES; at--) {
      const byte = chunk[at] ?? QUOTE
      if (byte === QUOTE) break
      hash = Math.imul(hash ^ byte, 0x01000193)
    }
    const place = (hash ^ (hash >>> 20)) & 0xfffff
    this.keys += 1 - (this.#seen[place] ?? 1)
    this.#seen[place] = 1
  }
}
