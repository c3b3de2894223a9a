import type { Programs } from '#platform/platform.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { quote } from '../ssh-command.ts'

/** A terminal program found on this machine. */
export interface Terminal {
  id: string
  name: string
  /** The absolute path of the program to start, which for macOS is `osascript` or `open`. */
  program: string
}

type Os = 'linux' | 'darwin' | 'win32'

interface Kind {
  id: string
  name: string
  /** The program to start. */
  program: string
  /** The application's path, if it is not on the PATH. */
  installedAt?: string
  /** Whether the program only instructs the application and then exits, with an error if it is not permitted to. */
  tells?: true
  args(command: readonly string[]): string[]
}

/**
 * Terminal and iTerm2 take a command by AppleScript only, and type it into the user's shell, so the command is quoted.
 * It is passed as an argument of the script, not within its text. A `.command` file would have to be executable, and
 * would be left behind.
 */
const script = (...lines: string[]) => ['on run argv', ...lines, 'end run'].flatMap(line => ['-e', line])

const kinds: Readonly<Record<Os, readonly Kind[]>> = {
  linux: [
    // The user's default terminal, on desktops that have such a setting.
    onPath('xdg-terminal-exec', 'The terminal of your choice', command => [...command]),
    onPath('x-terminal-emulator', 'The desktop’s terminal', command => ['-e', ...command]),
    onPath('gnome-terminal', 'GNOME Terminal', command => ['--', ...command]),
    onPath('ptyxis', 'Ptyxis', command => ['--new-window', '--', ...command]),
    onPath('kgx', 'GNOME Console', command => ['--', ...command]),
    onPath('konsole', 'Konsole', command => ['-e', ...command]),
    onPath('xfce4-terminal', 'Xfce Terminal', command => ['-x', ...command]),
    onPath('kitty', 'kitty', command => [...command]),
    onPath('alacritty', 'Alacritty', command => ['-e', ...command]),
    onPath('wezterm', 'WezTerm', command => ['start', '--', ...command]),
    onPath('ghostty', 'Ghostty', command => ['-e', ...command]),
    onPath('foot', 'foot', command => [...command]),
    onPath('xterm', 'xterm', command => ['-e', ...command]),
  ],
  darwin: [
    {
      id: 'terminal',
      name: 'Terminal',
      program: 'osascript',
      tells: true,
      args: command => [
        ...script(
          'tell application "Terminal"',
          'activate',
          'do script "exec " & (item 1 of argv)',
          'end tell',
        ),
        quote(command),
      ],
    },
    {
      id: 'iterm2',
      name: 'iTerm2',
      program: 'osascript',
      tells: true,
      installedAt: '/Applications/iTerm.app/Contents/MacOS/iTerm2',
      args: command => [
        ...script(
          'tell application "iTerm"',
          'activate',
          'set berthWindow to (create window with default profile)',
          'tell current session of berthWindow to write text "exec " & (item 1 of argv)',
          'end tell',
        ),
        quote(command),
      ],
    },
    {
      id: 'ghostty',
      name: 'Ghostty',
      program: 'open',
      installedAt: '/Applications/Ghostty.app/Contents/MacOS/ghostty',
      args: command => ['-na', 'Ghostty', '--args', '-e', ...command],
    },
  ],
  win32: [
    {
      id: 'windows-terminal',
      name: 'Windows Terminal',
      program: 'wt.exe',
      // wt.exe reads a semicolon as the start of its next command.
      args: command => ['new-tab', '--', ...command.map(arg => arg.replaceAll(';', '\\;'))],
    },
    // The console window without cmd: it runs ssh alone, so no shell reads the arguments.
    { id: 'cmd', name: 'Console (cmd)', program: 'conhost.exe', args: command => [...command] },
  ],
}

function onPath(id: string, name: string, args: Kind['args']): Kind {
  return { id, name, program: id, args }
}

/** The terminal programs on this machine, the likeliest choice first. */
export async function findTerminals(programs: Programs, platform: Os): Promise<Terminal[]> {
  const found = await Promise.all(
    kinds[platform].map(async ({ id, name, program, installedAt }) => {
      if (installedAt !== undefined && (await programs.find(installedAt)) === undefined) return undefined
      const path = await programs.find(program)
      return path === undefined ? undefined : { id, name, program: path }
    }),
  )
  return found.filter(terminal => terminal !== undefined)
}

/**
 * Runs a command in a new window of a terminal program. `id` is from `findTerminals`; empty means the first. Throws
 * `no_terminal`, or `terminal_refused` with the system's message.
 */
export async function openSystemTerminal(
  { programs, platform }: { programs: Programs; platform: Os },
  id: string,
  command: readonly string[],
): Promise<void> {
  const terminals = await findTerminals(programs, platform)
  const terminal = id === '' ? terminals[0] : terminals.find(candidate => candidate.id === id)
  const kind = kinds[platform].find(candidate => candidate.id === terminal?.id)
  if (terminal === undefined || kind === undefined) throw new BerthError(noTerminal(id))
  // The full path instead of the name, since the new window may have another PATH.
  const [name = 'ssh', ...args] = command
  const given = kind.args([(await programs.find(name)) ?? name, ...args])
  try {
    await programs.launch(terminal.program, given, { untilEnd: kind.tells === true })
  } catch (error) {
    throw refused(kind, error)
  }
}

/** macOS asks the user once whether Berth may control the terminal; -1743 means no, now or at an earlier time. */
function refused({ name }: Kind, error: unknown): BerthError {
  const reason = error instanceof Error ? error.message : String(error)
  return new BerthError({
    code: 'terminal_refused',
    message: `${name} did not open: ${reason}`,
    advice: reason.includes('-1743')
      ? `Allow Berth to control ${name} in System Settings, Privacy & Security, Automation.`
      : 'Use the terminal in Berth’s own window, or choose another program in Settings.',
  })
}

const noTerminal = (id: string): Problem => ({
  code: 'no_terminal',
  message:
    id === ''
      ? 'No terminal program that Berth supports was found on this computer.'
      : `The terminal program “${id}” isn’t installed on this computer.`,
  advice: 'Use the terminal in Berth’s own window, or choose another program in Settings.',
})

/**
 * The arguments of the user's own terminal command, with its placeholders filled in. An argument `{ssh}` becomes the
 * arguments of ssh; within a longer argument, `{ssh}` is one line for a POSIX shell. `{host}` and `{port}` are the
 * address. Without any placeholder, ssh and its arguments are appended.
 */
export function ownTerminalArgs(
  command: readonly string[],
  ssh: readonly string[],
  { host, port }: SshAddress,
): string[] {
  const given = command.some(arg => /\{(ssh|host|port)\}/.test(arg)) ? command : [...command, '{ssh}']
  const values: Readonly<Record<string, string>> = { ssh: quote(ssh), host, port: String(port) }
  return given.flatMap(arg =>
    arg === '{ssh}' ? ssh : [arg.replaceAll(/\{(ssh|host|port)\}/g, (_, name: string) => values[name] ?? '')],
  )
}

/** Opens the user's own terminal with ssh in it, without a shell in between. Throws `no_terminal`. */
export async function openOwnTerminal(
  programs: Programs,
  command: readonly string[],
  [ssh = 'ssh', ...args]: readonly string[],
  address: SshAddress,
): Promise<void> {
  const [name = '', ...rest] = command
  const program = await programs.find(name)
  if (program === undefined) {
    throw new BerthError({
      code: 'no_terminal',
      message: `The terminal program “${name}” in settings.json isn’t installed on this computer.`,
      advice: 'Enter its full path in terminal.command of settings.json, then restart Berth.',
    })
  }
  await programs.launch(program, ownTerminalArgs(rest, [(await programs.find(ssh)) ?? ssh, ...args], address))
}
