import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * browser_linux.cc, `SetDefaultWebClient`: only a desktop entry of that name, where glib looks for them, can be made
 * the one for a scheme.
 */
export function setDefaultWebClient(desktopName: string): boolean {
  const { env } = process
  const own = env['XDG_DATA_HOME'] || join(env['HOME'] ?? '', '.local/share')
  const folders = [own, ...(env['XDG_DATA_DIRS'] || '/usr/local/share:/usr/share').split(':')]
  return folders.some(folder => existsSync(join(folder, 'applications', desktopName)))
}
