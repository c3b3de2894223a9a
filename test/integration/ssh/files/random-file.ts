import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

const piece = 1024 * 1024

/** Writes `size` bytes in which each megabyte differs; gives their SHA-256. */
export async function randomFile(path: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  const out = createWriteStream(path)
  const bytes = randomBytes(Math.min(size, piece))
  for (let at = 0; at < size; at += piece) {
    const part = Buffer.from(bytes.subarray(0, Math.min(piece, size - at)))
    if (part.length >= 4) part.writeUInt32BE(at / piece)
    hash.update(part)
    if (!out.write(part)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return hash.digest('hex')
}

export async function streamedHash(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: piece }), hash)
  return hash.digest('hex')
}
