import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { FileError } from '../files/file-error.ts'
import type { Scratch } from '../files/scratch.ts'
import { Interrupted, type Sink } from './sink.ts'

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
