import {
  decodeRequest,
  encodeAnswerHead,
  type PieceRequest,
  requestLength,
  unreadable,
} from '#contract/instance/page-files.ts'
import type { PageStream } from '#renderer/berth/stream.ts'

/** Sends the main process the pieces of files that it requests in the stream, until the stream ends, as `ended` hears. */
export function serveFiles(
  stream: Pick<PageStream, 'read' | 'write' | 'consumed'>,
  files: readonly Blob[],
  ended: () => void,
): void {
  let waiting = new Uint8Array(0)
  let answered: Promise<void> = Promise.resolve()
  let over = false

  stream.read(
    bytes => {
      stream.consumed(bytes.length)
      const all = new Uint8Array(waiting.length + bytes.length)
      all.set(waiting)
      all.set(bytes, waiting.length)
      let at = 0
      for (; all.length - at >= requestLength; at += requestLength) answer(decodeRequest(all.subarray(at)))
      waiting = all.slice(at)
    },
    () => {
      over = true
      ended()
    },
  )

  /** Pieces are read concurrently, and sent in the order of the requests. */
  function answer({ request, file, offset, length }: PieceRequest): void {
    const reading = readPiece(files[file], offset, length)
    answered = answered.then(async () => {
      const bytes = await reading
      if (over) return
      stream.write(encodeAnswerHead(request, bytes?.length ?? unreadable))
      if (bytes) stream.write(bytes)
    })
  }
}

/** Undefined where the file cannot be read any more. */
async function readPiece(
  file: Blob | undefined,
  offset: number,
  length: number,
): Promise<Uint8Array | undefined> {
  try {
    return file && new Uint8Array(await file.slice(offset, offset + length).arrayBuffer())
  } catch {
    return undefined
  }
}
