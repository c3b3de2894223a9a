import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { applicationEntry } from './desktop-entry.ts'

export interface OwnEntryOptions {
  env: Readonly<Record<string, string | undefined>>
  home: string
}

/** The paths of the user's own entry and icon, and of the entries that a package may have installed. */
function places({ env, home }: OwnEntryOptions) {
  const own = env['XDG_DATA_HOME'] || join(home, '.local/share')
  const others = (env['XDG_DATA_DIRS'] || '/usr/local/share:/usr/share').split(':').filter(Boolean)
  return {
    entry: join(own, 'applications/berth.desktop'),
    icon: join(own, 'icons/hicolor/256x256/apps/berth.png'),
    installed: others.map(folder => join(folder, 'applications/berth.desktop')),
  }
}

/**
 * Writes a desktop entry for an AppImage, without which `berth://` links do not work, and updates it after the AppImage
 * was moved. Does nothing where a package of Berth is installed or the user wrote an entry.
 */
export async function introduceAppImage(
  image: string,
  icon: string,
  options: OwnEntryOptions,
): Promise<void> {
  const at = places(options)
  const appDir = options.env['APPDIR'] ?? ''
  for (const entry of at.installed) if (!(appDir && entry.startsWith(appDir)) && (await exists(entry))) return
  const before = await readFile(at.entry, 'utf8').catch(() => undefined)
  const now = applicationEntry(image)
  if (before !== undefined && (before === now || !isOurs(before))) return
  await mkdir(dirname(at.icon), { recursive: true })
  // Read and written, not copied: it may be in an asar archive.
  await writeFile(at.icon, await readFile(icon))
  await mkdir(dirname(at.entry), { recursive: true })
  await writeFileAtomic(at.entry, now, { mode: 0o644 })
}

/** Removes what `introduceAppImage` wrote. */
export async function withdrawAppImage(options: OwnEntryOptions): Promise<void> {
  const at = places(options)
  const entry = await readFile(at.entry, 'utf8').catch(() => '')
  if (!isOurs(entry)) return
  await rm(at.entry, { force: true })
  await rm(at.icon, { force: true })
}

function isOurs(entry: string): boolean {
  return entry.includes('\nX-Berth-AppImage=true\n')
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
