/** What of a command line the desktop's specification wants quoted (Desktop Entry Specification, "The Exec key"). */
const plain = /^[A-Za-z0-9_@.,:=/+-]+$/

/** An `Exec` line that starts exactly this, whatever is in it. */
export function execLine(command: readonly string[]): string {
  return command.map(quoted).join(' ')
}

function quoted(argument: string): string {
  // A percent sign would be a field code; the value is unescaped once as a string, then once more within quotes.
  const text = argument.replaceAll('%', '%%')
  if (plain.test(text)) return text
  return `"${text.replaceAll(/["`$\\]/g, '\\$&').replaceAll('\\', '\\\\')}"`
}

/** The file that has the desktop start a command when the user logs in (Desktop Application Autostart Specification). */
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

/** Whether such a file does anything: a desktop's own settings switch it off by a line in it. */
export function isEnabled(entry: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/im.test(entry)
}

/** Whether such a file starts Berth without its window. */
export function isHidden(entry: string): boolean {
  return /^Exec=.* --hidden$/m.test(entry)
}

/**
 * The file that makes an AppImage known to the desktop, as an installed package is: its links, its name and its icon
 * (Desktop Entry Specification).
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
