import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The bytes of every file below a folder, or of the wanted ones, in order of path.
 *
 * Berth writes a new file and renames it, so a listed file can be gone when it is read. Then the folder is listed
 * again, until all listed files were read.
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
