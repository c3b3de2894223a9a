export type Platform = 'linux' | 'darwin' | 'win32'

/** A program that edits files on a `Host` of the SSH config. */
interface EditorKind {
  id: string
  name: string
  /** Possible places, the likeliest first: names on the PATH, absolute paths, or paths in the home folder. */
  places: Readonly<Record<Platform, readonly string[]>>
  args(host: string): string[]
}

/** On macOS the command is rarely on the PATH but always inside the application. */
function inApplications(path: string): string[] {
  return [`/Applications/${path}`, `~/Applications/${path}`]
}

/**
 * VS Code and its forks. `application` is the name on macOS, `program` the path on Windows; the commands on Windows are
 * shell scripts, so the program itself is started.
 */
function likeCode(id: string, name: string, application: string, program: string): EditorKind {
  return {
    id,
    name,
    places: {
      linux: [id, `/usr/share/${id}/bin/${id}`, `/snap/bin/${id}`],
      darwin: [id, ...inApplications(`${application}.app/Contents/Resources/app/bin/${id}`)],
      win32: [`~/AppData/Local/Programs/${program}`, `C:/Program Files/${program}`],
    },
    args: host => ['--new-window', '--remote', `ssh-remote+${host}`],
  }
}

export const kinds: readonly EditorKind[] = [
  likeCode('code', 'VS Code', 'Visual Studio Code', 'Microsoft VS Code/Code.exe'),
  likeCode('cursor', 'Cursor', 'Cursor', 'cursor/Cursor.exe'),
  likeCode('windsurf', 'Windsurf', 'Windsurf', 'Windsurf/Windsurf.exe'),
  {
    id: 'zed',
    name: 'Zed',
    places: {
      linux: ['zed', 'zeditor', '~/.local/bin/zed'],
      darwin: ['zed', ...inApplications('Zed.app/Contents/MacOS/cli')],
      win32: ['~/AppData/Local/Programs/Zed/Zed.exe'],
    },
    args: host => ['--new', `ssh://${host}/root`],
  },
  {
    id: 'gateway',
    name: 'JetBrains Gateway',
    places: {
      linux: [
        'gateway',
        'jetbrains-gateway',
        '~/.local/share/JetBrains/Toolbox/apps/gateway/bin/gateway',
        '~/.local/share/JetBrains/Toolbox/scripts/gateway',
      ],
      darwin: ['gateway', ...inApplications('JetBrains Gateway.app/Contents/MacOS/gateway')],
      win32: ['~/AppData/Local/Programs/Gateway/bin/gateway64.exe'],
    },
    args: host => [
      `jetbrains-gateway://connect#type=ssh&deploy=true&host=${host}&user=root&projectPath=%2Froot`,
    ],
  },
]
