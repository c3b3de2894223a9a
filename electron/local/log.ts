import { createWriteStream } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'

const largest = 1024 * 1024

export interface Log {
  line(text: string): void
  /** Resolves when what was said is written. */
  close(): Promise<void>
}

/** Lines with their time, added to a file that only the user can read. Past 1 MB the file becomes `….1` at a start. */
export async function openLog(path: string): Promise<Log> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const size = await stat(path).then(
    file => file.size,
    () => 0,
  )
  if (size > largest) await rename(path, `${path}.1`)
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  // A full disk must not end Berth: what cannot be logged is lost.
  stream.on('error', () => undefined)
  return {
    line(text) {
      if (stream.writable) stream.write(`${new Date().toISOString()} ${text.replaceAll(/[\r\n]+/g, ' ')}\n`)
    },
    async close() {
      stream.end()
      await finished(stream).catch(() => undefined)
    },
  }
}
