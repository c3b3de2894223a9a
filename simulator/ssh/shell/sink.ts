import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Readable, type Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { FileError, type Scratch } from '../files/scratch.ts'

/** A command's output. Waits while the reader is slow; rejects once the command must end. */
export type Sink = (data: string | Buffer) => Promise<void>

/** The command must end: by Ctrl-C, or as its reader is gone. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted')
    this.name = 'Interrupted'
  }
}

/**
 * Writes to a stream and waits until it has taken everything, so no more than one piece is ever held here.
 * Rejects with Interrupted when `signal` fires, also in the middle of waiting (a closed channel never answers).
 */
export function streamSink(stream: Writable, signal: AbortSignal): Sink {
  return data =>
    new Promise((resolve, reject) => {
      const stop = () => reject(new Interrupted())
      if (signal.aborted || !stream.writable) {
        stop()
        return
      }
      signal.addEventListener('abort', stop, { once: true })
      stream.write(data, error => {
        signal.removeEventListener('abort', stop)
        if (error) stop()
        else resolve()
      })
    })
}

/** Converts for a terminal: a new line also returns to the first column. */
export function terminalSink(sink: Sink): Sink {
  return data => sink(data.toString().replace(/\r?\n/g, '\r\n'))
}

/** The most bytes of a redirection: this is the user's own disk. */
const largestFile = 64 * 1024 * 1024

/** A file of the scratch folder as a command's output; emptied first unless `append`. Throws FileError. */
export function appendingSink(files: Scratch, path: string, append: boolean, signal: AbortSignal): Sink {
  if (/\/dev\/null$/.test(path))
    return async () => (signal.aborted ? Promise.reject(new Interrupted()) : undefined)
  const real = () => {
    const place = files.at(path, 'follow')
    if (place.stats?.isDirectory()) throw new FileError('EISDIR')
    if (place.stats !== undefined && !place.stats.isFile()) throw new FileError('EACCES')
    return place.real
  }
  if (append) appendFileSync(real(), '')
  else writeFileSync(real(), '')
  let written = 0
  return async data => {
    if (signal.aborted) throw new Interrupted()
    written += data.length
    if (written > largestFile) throw new FileError('EFBIG')
    appendFileSync(real(), data)
    await setImmediate()
  }
}

/** A file of the scratch folder as a command's input. Throws FileError. */
export function inputFile(files: Scratch, path: string): Readable {
  if (/\/dev\/null$/.test(path)) return Readable.from([])
  return Readable.from([readRegular(files, path)])
}

/** A file's bytes. Throws FileError `ENOENT`, `EISDIR`, `EFBIG`. */
export function readRegular(files: Scratch, path: string): Buffer {
  const place = files.existing(path, 'follow')
  if (place.stats.isDirectory()) throw new FileError('EISDIR')
  if (!place.stats.isFile()) throw new FileError('EACCES')
  if (place.stats.size > largestFile) throw new FileError('EFBIG')
  return readFileSync(place.real)
}
