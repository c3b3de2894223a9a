import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What Electron's fuses are found by, in any of its programs. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'

/**
 * What electron-builder wants of Electron's own files, without its binary: the names, and a program in which the fuses
 * lie as in the real one: version 1, nine of them, all as Electron ships them.
 */
export async function writeStandIn(folder: string, version: string): Promise<void> {
  await mkdir(join(folder, 'locales'), { recursive: true })
  const fuses = Buffer.concat([Buffer.from(sentinel), Buffer.from([1, 9]), Buffer.from('101100011')])
  await writeFile(
    join(folder, 'electron'),
    Buffer.concat([Buffer.from('stand-in\0'), fuses, Buffer.from('\0')]),
  )
  await chmod(join(folder, 'electron'), 0o755)
  await writeFile(join(folder, 'version'), version)
  await writeFile(join(folder, 'LICENSE'), 'stand-in')
  await writeFile(join(folder, 'LICENSES.chromium.html'), 'stand-in')
  for (const language of ['en-US', 'de']) await writeFile(join(folder, `locales/${language}.pak`), 'stand-in')
}
