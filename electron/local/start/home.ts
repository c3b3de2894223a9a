import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Berth's folder for all data: `BERTH_HOME`, else the platform's usual place. Absolute. */
export function berthHome(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string = homedir(),
): string {
  const given = env['BERTH_HOME']
  if (given !== undefined && given !== '') return resolve(given)
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'Berth')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Berth')
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'berth')
}
