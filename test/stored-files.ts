import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Every file below a folder that is wanted (all, unless told), in the order of its path, with its bytes.
 *
 * Berth writes beside a file and renames, so that one which was listed can be gone when it is
 * read: then the folder is looked at anew, until all that was listed was also read.
 */
export async function storedFiles(
  folder: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const wanted = paths.filter(isWanted).toSorted()
  const files = await Promise.all(wanted.map(async path => [path, await bytesOf(path)] as const))
  const whole = files.flatMap(([path, bytes]) => (bytes === undefined ? [] : [[path, bytes] as const]))
  return whole.length === files.length ? new Map(whole) : storedFiles(folder, isWanted)
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
