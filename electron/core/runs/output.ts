import * as v from 'valibot'
import type { Files } from '../../ports/files.ts'

/** A piece of output: where it begins among the run's bytes, how many of them it is, and their text. */
const Piece = v.object({ at: v.number(), bytes: v.number(), text: v.string() })
type Piece = v.InferOutput<typeof Piece>

/** Bytes of output that are kept at the least, once there are more; with twice as many, the file is cut to the newest. */
const kept = 4 * 1024 * 1024

/**
 * The output of one run, as far as it is kept on this machine: one JSON line for each piece. Where to go on is read out
 * of the file itself, so that a kill at any moment repeats nothing and leaves nothing out.
 */
export interface RunOutput {
  /** The byte of the output to go on from. */
  next(): number
  /** Bytes at its beginning that are not kept any more. */
  dropped(): number
  /** Resolves once it is on disk. What is no whole character yet is left for the next time. */
  append(bytes: Buffer, last: boolean): Promise<void>
  /** The kept pieces from one on, and where to go on; pieces that were cut off meanwhile are left out. */
  pieces(from: number): { texts: readonly string[]; next: number }
  /** Calls back after every piece that is added; gives what ends that. */
  onAppend(listener: () => void): () => void
  text(): string
}

export async function openOutput(files: Files, name: string, most = kept): Promise<RunOutput> {
  const stored = (await files.read(name)) ?? ''
  let pieces = readPieces(stored)
  /** Pieces that were cut off, so that who reads on finds the place again. */
  let cut = 0
  const torn = stored !== '' && !stored.endsWith('\n')
  const listeners = new Set<() => void>()
  const next = () => {
    const last = pieces.at(-1)
    return last ? last.at + last.bytes : 0
  }

  async function write(piece: Piece, begin: string): Promise<void> {
    await files.append(name, `${begin}${JSON.stringify(piece)}\n`)
    const total = pieces.reduce((sum, { bytes }) => sum + bytes, 0)
    if (total <= 2 * most) return
    let rest = total
    const from = pieces.findIndex(({ bytes }) => {
      rest -= bytes
      return rest <= most
    })
    cut += from + 1
    pieces = pieces.slice(from + 1)
    await files.write(name, pieces.map(one => `${JSON.stringify(one)}\n`).join(''))
  }

  let begin = torn ? '\n' : ''
  return {
    next,
    dropped: () => pieces[0]?.at ?? 0,
    async append(bytes, last) {
      const whole = last ? bytes.length : bytes.length - heldBack(bytes)
      if (whole === 0) return
      const piece = { at: next(), bytes: whole, text: bytes.subarray(0, whole).toString('utf8') }
      pieces = [...pieces, piece]
      const first = begin
      begin = ''
      try {
        await write(piece, first)
      } catch (error) {
        begin = '\n'
        pieces = pieces.filter(one => one !== piece)
        throw error
      }
      for (const listener of listeners) listener()
    },
    pieces: from => ({
      texts: pieces.slice(Math.max(0, from - cut)).map(({ text }) => text),
      next: cut + pieces.length,
    }),
    onAppend(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    text: () => pieces.map(({ text }) => text).join(''),
  }
}

/** The pieces in their order. A line that was torn by a kill is none, and one that was written twice counts once. */
function readPieces(text: string): Piece[] {
  const pieces: Piece[] = []
  for (const line of text.split('\n')) {
    const piece = readPiece(line)
    const last = pieces.at(-1)
    if (piece && (!last || piece.at === last.at + last.bytes)) pieces.push(piece)
  }
  return pieces
}

function readPiece(line: string): Piece | undefined {
  try {
    const checked = v.safeParse(Piece, JSON.parse(line))
    return checked.success ? checked.output : undefined
  } catch {
    return undefined
  }
}

/** Bytes at the end that begin a character and do not finish it. */
function heldBack(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? back : 0
  }
  return 0
}
