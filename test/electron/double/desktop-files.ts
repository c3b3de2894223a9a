import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * browser_linux.cc, `SetDefaultWebClient`: works only with a desktop entry of that name in a folder that glib searches.
 */
export function setDefaultWebClient(desktopName: string): boolean {
  const { env } = process
  const own = env['XDG_DATA_HOME'] || join(env['HOME'] ?? '', '.local/share')
  const folders = [own, ...(env['XDG_DATA_DIRS'] || '/usr/local/share:/usr/share').split(':')]
  return folders.some(folder => existsSync(join(folder, 'applications', desktopName)))
}
