import { count } from '../../contract/format/size.ts'
import type { WireAnswer } from './wire.ts'

/** How much of an answer is read. What goes beyond it is broken off at once. */
export interface AnswerBound {
  /** Decoded bytes: what a compressed answer becomes counts, not what was sent. */
  bytes: number
  /** Values beyond the first {@link UNCOUNTED_BYTES}, each as {@link Density} weighs it. */
  values: number
}

const MB = 1_000_000

/**
 * A search of 20,000 offers takes 15 MB and 0.94 million values, a list of 1,000 instances 1.4 MB. A single record is
 * too small for its values to be counted.
 */
export const answerBounds = {
  single: { bytes: MB, values: 0 },
  list: { bytes: 16 * MB, values: 400_000 },
  search: { bytes: 32 * MB, values: 1_200_000 },
} satisfies Record<string, AnswerBound>

/** Up to this size values are not counted: even dense JSON takes less memory, once parsed, than a large search. */
const UNCOUNTED_BYTES = 1_500_000
/** Different keys in an answer, of all its records together. */
const MOST_KEYS = 20_000
/** A refusal says what it has to say in the first of its bytes. */
const REFUSAL_BYTES = 64_000

/** An answer that went beyond its bound. */
export class AnswerTooLarge extends Error {
  /** The bound it met, such as `32 MB` or `1.2 million values`. */
  readonly met: string

  constructor(met: string) {
    super('answer too large')
    this.met = met
  }
}

/**
 * The answer's whole text; of one that is not a 2xx, little more than the first 64 KB.
 * @throws AnswerTooLarge as soon as the bound is met, with the connection closed; or what Node’s `http` throws
 */
export async function boundedText({ status, body }: WireAnswer, bound: AnswerBound): Promise<string> {
  const isRefusal = status < 200 || status > 299
  const decoder = new TextDecoder()
  let text = ''
  let density: Density | undefined
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    if (isRefusal && bytes > REFUSAL_BYTES) break
    if (bytes > UNCOUNTED_BYTES) {
      density ??= new Density()
      density.add(chunk)
    }
    const met = boundMet(bytes, density, bound)
    if (met !== undefined) throw new AnswerTooLarge(met)
  }
  return text + decoder.decode()
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
/** What an object or a list takes, in numbers. */
const OPEN_WEIGHT = 8
/** Bytes of a key that tell it from another. */
const KEY_BYTES = 64

/**
 * What makes JSON grow when it is parsed: `{},{},…` becomes twenty times its size, and so does a run of keys that are
 * all different. Goes by bytes, since only the parser knows which of them are in texts, so texts count a little too.
 */
class Density {
  /** A comma is one, a bracket that opens is eight. */
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

  /** The key before the colon: back to its first quote. */
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
