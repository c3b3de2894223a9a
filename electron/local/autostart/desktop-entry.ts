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
export function autostartEntry(command: readonly string[]): string {
  return `[Desktop Entry]
Type=Application
Version=1.0
Name=Berth
Comment=Watches what you rent
Exec=${execLine(command)}
Icon=berth
Terminal=false
StartupNotify=false
X-GNOME-Autostart-enabled=true
`
}

/** Whether the entry is in effect: a desktop's settings disable it by a line in it. */
export function isEnabled(entry: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/im.test(entry)
}

/** Whether the entry starts Berth without its window. */
export function isHidden(entry: string): boolean {
  return /^Exec=.* --hidden$/m.test(entry)
}

/**
 * The desktop entry that gives an AppImage what an installed package has: links, name and icon (Desktop Entry
 * Specification).
 */
export function applicationEntry(image: string): string {
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
