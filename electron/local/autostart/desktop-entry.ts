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
