import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Autostart } from './platform.ts'

interface LinuxAutostartOptions {
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** The program that starts Berth, and its arguments. */
  command: readonly string[]
}

/** An Autostart whose entry can become outdated, since the program that starts Berth may be moved or renamed. */
interface LinuxAutostart extends Autostart {
  /** Updates an enabled entry that starts another command. */
  renew(): Promise<void>
}

/** Starts Berth at login by a desktop entry in the user's autostart folder. */
export function linuxAutostart({ env, home, command }: LinuxAutostartOptions): LinuxAutostart {
  const folder = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'autostart')
  const file = join(folder, 'berth.desktop')
  const read = () => readFile(file, 'utf8').catch(() => undefined)
  const entryFor = (how: 'window' | 'tray') =>
    autostartEntry(how === 'tray' ? [...command, '--hidden'] : command)
  const write = (entry: string) => writeFileAtomic(file, entry, { mode: 0o644 })
  return {
    async isOn() {
      const entry = await read()
      return entry !== undefined && isEnabled(entry)
    },
    async choose(how) {
      if (how === 'no') return rm(file, { force: true })
      await mkdir(folder, { recursive: true })
      await write(entryFor(how))
    },
    async renew() {
      const entry = await read()
      if (entry === undefined || !isEnabled(entry)) return
      const now = entryFor(isHidden(entry) ? 'tray' : 'window')
      if (now !== entry) await write(now)
    },
  }
}

interface OwnEntryOptions {
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

/**
 * Removes Berth from the user's list of handlers, where Electron and `xdg-mime` name it (Association between MIME types
 * and applications, "Default Application"): neither takes it out again.
 */
export async function withdrawLinkHandler({ env, home }: OwnEntryOptions): Promise<void> {
  const file = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'mimeapps.list')
  const before = await readFile(file, 'utf8').catch(() => '')
  const now = before.replaceAll(/^x-scheme-handler\/berth\s*=(.*)\n/gm, (_line, names: string) => {
    const others = names.split(';').filter(name => name.trim() !== 'berth.desktop' && name.trim() !== '')
    return others.length === 0 ? '' : `x-scheme-handler/berth=${others.join(';')};\n`
  })
  if (now !== before) await writeFileAtomic(file, now)
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

/** Arguments that need no quotes (Desktop Entry Specification, "The Exec key"). */
const plain = /^[A-Za-z0-9_@.,:=/+-]+$/

/** The value of an `Exec` line that runs exactly this command, with any characters in its arguments. */
export function execLine(command: readonly string[]): string {
  return command.map(quoted).join(' ')
}

function quoted(argument: string): string {
  // A percent sign would start a field code. The value is unescaped twice: as a string, then within quotes.
  const text = argument.replaceAll('%', '%%')
  if (plain.test(text)) return text
  return `"${text.replaceAll(/["`$\\]/g, '\\$&').replaceAll('\\', '\\\\')}"`
}

/** The desktop entry that runs a command at login (Desktop Application Autostart Specification). */
function autostartEntry(command: readonly string[]): string {
  return `[Desktop Entry]
Type=Application
Version=1.0
Name=Berth
Comment=Monitors your rented GPUs
Exec=${execLine(command)}
Icon=berth
Terminal=false
StartupNotify=false
X-GNOME-Autostart-enabled=true
`
}

/** Whether the entry is in effect: a desktop's settings disable it by a line in it. */
function isEnabled(entry: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/im.test(entry)
}

/** Whether the entry starts Berth without its window. */
function isHidden(entry: string): boolean {
  return /^Exec=.* --hidden$/m.test(entry)
}

/**
 * The desktop entry that gives an AppImage what an installed package has: links, name and icon (Desktop Entry
 * Specification).
 */
function applicationEntry(image: string): string {
  return `[Desktop Entry]
Type=Application
Version=1.0
Name=Berth
GenericName=Cloud GPUs
Comment=From the tray to a shell on a rented GPU in one click
Exec=${execLine([image])} %U
TryExec=${image.replaceAll('\\', '\\\\')}
Icon=berth
Terminal=false
StartupNotify=true
StartupWMClass=berth
Categories=Network;RemoteAccess;
MimeType=x-scheme-handler/berth;
X-Berth-AppImage=true
`
}

/** The part of Electron's login item settings that Berth reads. */
interface LoginItem {
  openAtLogin: boolean
  /** On Windows: false where the user disabled it in the Task Manager, which keeps the entry. */
  executableWillLaunchAtLogin: boolean
}

/** Whether the system really starts Berth at login. */
export function startsAtLogin(item: LoginItem, platform: NodeJS.Platform): boolean {
  return item.openAtLogin && (platform !== 'win32' || item.executableWillLaunchAtLogin)
}
