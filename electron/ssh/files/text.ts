import { type FileVersion, largestText } from '#shared/instance/files.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { destinationOf, partOf, takeAfter } from './destination.ts'
import type { Sftp } from './sftp.ts'

/** The text of a small file. Throws `too_large` or `not_text`. */
export async function readRemoteText(
  sftp: Sftp,
  path: string,
): Promise<{ text: string; version: FileVersion }> {
  const handle = await sftp.openRead(path)
  try {
    const { modified } = await sftp.statHandle(handle)
    // Reads to the end whatever the reported size is: files of the kernel report 0.
    const pieces: Buffer[] = []
    let size = 0
    for (;;) {
      const piece = Buffer.alloc(32_768)
      const bytes = await sftp.read(handle, piece, size)
      if (bytes === 0) break
      size += bytes
      if (size > largestText) throw new BerthError(tooLarge)
      pieces.push(piece.subarray(0, bytes))
    }
    return { text: decoded(Buffer.concat(pieces)), version: { size, modified } }
  } finally {
    await sftp.close(handle).catch(() => undefined)
  }
}

/**
 * Creates or replaces a text file: written under a temporary name, then renamed, so that no half file is seen. Links
 * and the file's owner are kept. Throws `changed_meanwhile` if the file no longer has that version.
 */
export async function writeText(
  sftp: Sftp,
  path: string,
  text: string,
  version: FileVersion | undefined,
): Promise<FileVersion> {
  const destination = await destinationOf(sftp, path)
  const { path: target, before } = destination
  if (version !== undefined && (before?.size !== version.size || before.modified !== version.modified)) {
    // It may have been written before, and the answer lost.
    const there = before && (await readRemoteText(sftp, path).catch(unlessUnread))
    if (there?.text === text) return there.version
    throw new BerthError(changedMeanwhile)
  }
  const part = partOf(target, text)
  const bytes = Buffer.from(text, 'utf8')
  try {
    const handle = await sftp.openWrite(part)
    try {
      await sftp.cut(handle, 0)
      for (let at = 0; at < bytes.length; at += sftp.writing.piece)
        await sftp.write(handle, bytes.subarray(at, at + sftp.writing.piece), at)
    } finally {
      await sftp.close(handle)
    }
    await takeAfter(sftp, part, destination, 0o644)
    await sftp.replace(part, target)
  } catch (error) {
    await sftp.remove(part).catch(() => undefined)
    throw error
  }
  const { size, modified } = await sftp.stat(target)
  return { size, modified }
}

/** A file that is no text, too large or gone differs from the written one. */
function unlessUnread(error: unknown): undefined {
  if (!(error instanceof BerthError)) throw error
}

function decoded(bytes: Buffer): string {
  if (bytes.includes(0)) throw new BerthError(notText)
  try {
    // Keeps a byte order mark, so that it is written back.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new BerthError(notText)
  }
}

const tooLarge: Problem = {
  code: 'too_large',
  message: 'The file is larger than 1 MB, too large to edit here.',
  advice: 'Download it, or open it in the terminal.',
}

const notText: Problem = {
  code: 'not_text',
  message: 'The file isn’t UTF-8 text, so it can’t be edited here.',
  advice: 'Download it instead.',
}

const changedMeanwhile: Problem = {
  code: 'changed_meanwhile',
  message: 'The file changed on the instance after you opened it, so it wasn’t saved.',
  advice: 'Save it anyway, or open it again.',
}
