import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** Something in the place of a file of Berth's that is no file, or too long to be one of them. */
export class NoFileError extends Error {
  readonly code: 'not_a_file' | 'too_long'

  constructor(path: string, code: NoFileError['code']) {
    super(`${path} is ${code === 'too_long' ? 'too long' : 'not a file'}`)
    this.name = 'NoFileError'
    this.code = code
  }
}

/** The most bytes of a file that Berth reads as a whole: several times what the largest account has. */
const longest = 256 * 1024 * 1024

/** Without waiting for the other end of a pipe, which may never come. Windows has no such flag, and no such pipes. */
const { O_NONBLOCK = 0, O_RDONLY, O_WRONLY, O_APPEND, O_CREAT } = constants
const toRead = O_RDONLY | O_NONBLOCK
/** The same for a file to append to, which is made where it is missing. */
export const toAppend = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK

function refuse(path: string, stats: Stats, most: number): void {
  if (!stats.isFile()) throw new NoFileError(path, 'not_a_file')
  if (stats.size > most) throw new NoFileError(path, 'too_long')
}

/**
 * Opens a file of Berth's own, and closes it after its use. Never waits for a pipe or a device. Throws a NoFileError
 * for anything but a file.
 */
export async function withOwnFile<Got>(
  path: string,
  flags: number,
  use: (file: FileHandle) => Promise<Got>,
): Promise<Got> {
  const file = await open(path, flags, 0o600)
  try {
    refuse(path, await file.stat(), Number.POSITIVE_INFINITY)
    return await use(file)
  } finally {
    await file.close()
  }
}

/**
 * The text of a file of Berth's own, or of the user's settings. Throws a NoFileError for anything but a file, and for one
 * of more than `most` bytes.
 */
export function readOwnFile(
  path: string,
  most = longest,
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<string> {
  return withOwnFile(path, toRead, async file => {
    refuse(path, await file.stat(), most)
    return file.readFile(encoding)
  })
}

/** At most `most` bytes of it from a byte on. */
export function readOwnPart(path: string, from: number, most: number): Promise<Buffer> {
  return withOwnFile(path, toRead, async file => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, from)
    return buffer.subarray(0, bytesRead)
  })
}

function withOwnFileSync<Got>(path: string, flags: number, use: (file: number) => Got): Got {
  const file = openSync(path, flags, 0o600)
  try {
    refuse(path, fstatSync(file), longest)
    return use(file)
  } finally {
    closeSync(file)
  }
}

/** The same as `readOwnFile`, before anything else can happen. */
export function readOwnFileSync(path: string): string {
  return withOwnFileSync(path, toRead, file => readFileSync(file, 'utf8'))
}

/** Appends to the file, or makes it, before anything else can happen. Throws as `readOwnFile` does. */
export function appendOwnFileSync(path: string, text: string): void {
  withOwnFileSync(path, toAppend, file => writeFileSync(file, text))
}
