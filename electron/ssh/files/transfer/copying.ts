import type { OpenSource } from '#platform/folders.ts'
import type { Handle, Sftp } from '../sftp.ts'

/** The progress callback of a copy, and the signal that aborts it. */
export interface Copying {
  signal: AbortSignal
  /** Called with the number of bytes that arrived since the last call; there are no gaps before them. */
  onBytes: (bytes: number) => void
}

/**
 * Writes a part of a source, with several pieces in flight. They are sent in order, and a piece counts as arrived only
 * once all before it have, so what was counted has no gaps. Buffers are reused, so that memory does not grow with the
 * file.
 */
export async function copyUp(
  sftp: Sftp,
  handle: Handle,
  source: OpenSource,
  { from, to }: { from: number; to: number },
  { signal, onBytes }: Copying,
): Promise<void> {
  const { piece, depth } = sftp.writing
  const buffers: Buffer[] = []
  const underWay: Promise<void>[] = []
  let sent: Promise<void> = Promise.resolve()

  try {
    for (let at = from; at < to; ) {
      signal.throwIfAborted()
      if (underWay.length >= depth) await underWay.shift()
      const offset = at
      const length = Math.min(piece, to - offset)
      const buffer = buffers.pop() ?? Buffer.allocUnsafe(Math.min(piece, to - from))
      const reading = readAll(source, offset, buffer.subarray(0, length))
      const before = sent
      const last = underWay.at(-1)
      const writing = (async () => {
        const bytes = await reading
        await before
        signal.throwIfAborted()
        return { written: sftp.write(handle, bytes, offset) }
      })()
      at += length
      sent = writing.then(() => undefined)
      const done = writing.then(async ({ written }) => {
        await written
        await last
        buffers.push(buffer)
        onBytes(length)
      })
      // Awaited later; until then, this prevents an unhandled rejection.
      done.catch(() => undefined)
      sent.catch(() => undefined)
      underWay.push(done)
    }
    await Promise.all(underWay)
  } finally {
    await Promise.allSettled(underWay)
  }
}

/** Fills the buffer. Throws SourceChanged if the source has become shorter. */
async function readAll(source: OpenSource, at: number, into: Buffer): Promise<Buffer> {
  let filled = 0
  while (filled < into.length) {
    const bytes = await source.read(at + filled, into.subarray(filled))
    if (bytes === 0) throw new SourceChanged()
    filled += bytes
  }
  return into
}

export class SourceChanged extends Error {
  constructor() {
    super('The file became shorter while it was read.')
    this.name = 'SourceChanged'
  }
}

/**
 * Reads a part of a file, with several pieces in flight, and passes the bytes to `write` in order. They are only lent,
 * until `write` resolves. Up to `waiting` calls of `write` may be pending when it is called again; by default none.
 */
export async function copyDown(
  sftp: Sftp,
  handle: Handle,
  { from, to, waiting = 0 }: { from: number; to: number; waiting?: number },
  write: (bytes: Buffer) => Promise<void>,
  { signal, onBytes }: Copying,
): Promise<void> {
  const { piece, depth } = sftp.reading
  const buffers: Buffer[] = []
  const underWay: Promise<{ buffer: Buffer; bytes: Buffer }>[] = []
  const writing: Promise<void>[] = []
  let next = from

  function ask(): void {
    const at = next
    const buffer = buffers.pop() ?? Buffer.allocUnsafe(Math.min(piece, to - from))
    const wanted = buffer.subarray(0, Math.min(piece, to - at))
    next += wanted.length
    const reading = fill(sftp, handle, wanted, at).then(bytes => ({ buffer, bytes }))
    reading.catch(() => undefined)
    underWay.push(reading)
  }

  async function take({ buffer, bytes }: { buffer: Buffer; bytes: Buffer }): Promise<void> {
    await write(bytes)
    buffers.push(buffer)
    onBytes(bytes.length)
  }

  try {
    while (next < to || underWay.length > 0) {
      signal.throwIfAborted()
      while (next < to && underWay.length < depth) ask()
      const first = await underWay.shift()
      if (first === undefined) return
      const taken = take(first)
      // Awaited later; until then, this prevents an unhandled rejection.
      taken.catch(() => undefined)
      writing.push(taken)
      while (writing.length > waiting) await writing.shift()
    }
    await Promise.all(writing)
  } finally {
    await Promise.allSettled([...underWay, ...writing])
  }
}

async function fill(sftp: Sftp, handle: Handle, target: Buffer, at: number): Promise<Buffer> {
  let filled = 0
  while (filled < target.length) {
    const bytes = await sftp.read(handle, target.subarray(filled), at + filled)
    if (bytes === 0) throw new SourceChanged()
    filled += bytes
  }
  return target
}
