import type { FileHandle } from 'node:fs/promises'

interface Waiting {
  bytes: Uint8Array
  resolve(): void
  reject(error: unknown): void
}

/** Appends pieces to a file, one after another. */
export interface InOrder {
  /** Bytes in the file. */
  size: number
  /** Resolves once they are written. Further calls are queued; after a failure all of them reject. */
  write(bytes: Uint8Array): Promise<void>
}

/** Pieces queued while the disk is busy are written in one call, since each call costs more than its bytes. */
export function inOrder(file: FileHandle, size: number): InOrder {
  const queue: Waiting[] = []
  let writing = false
  let failure: { error: unknown } | undefined

  async function writeAll(): Promise<void> {
    writing = true
    while (queue.length > 0) {
      const batch = queue.splice(0)
      try {
        if (failure) throw failure.error
        await writeWhole(batch.map(({ bytes }) => bytes))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        failure ??= { error }
        for (const { reject } of batch) reject(error)
      }
    }
    writing = false
  }

  async function writeWhole(pieces: Uint8Array[]): Promise<void> {
    let left = pieces
    while (left.length > 0) {
      const { bytesWritten } = await file.writev(left, order.size)
      order.size += bytesWritten
      left = withoutFirst(left, bytesWritten)
    }
  }

  const order: InOrder = {
    size,
    write: bytes =>
      new Promise((resolve, reject) => {
        queue.push({ bytes, resolve: () => resolve(), reject })
        if (!writing) void writeAll()
      }),
  }
  return order
}

/** The rest of the pieces after so many bytes of them. */
function withoutFirst(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let written = bytes
  return pieces.flatMap(piece => {
    const rest = piece.subarray(Math.min(written, piece.length))
    written -= piece.length - rest.length
    return rest.length > 0 ? [rest] : []
  })
}
