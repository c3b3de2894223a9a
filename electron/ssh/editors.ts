import { join } from 'node:path'
import type { Programs } from '#platform/platform.ts'
import { BerthError, type Problem } from '#shared/problem.ts'

/** An editor found on this machine. */
export interface Editor {
  id: string
  name: string
  /** The absolute path of the program to start. */
  program: string
}

export interface EditorNeeds {
  programs: Programs
  os: Os
  /** The user's home folder: applications are installed there, too. */
  home: string
}

/** The editors on this machine that open an instance through the SSH config. */
export async function findEditors({ programs, os, home }: EditorNeeds): Promise<Editor[]> {
  const found = await Promise.all(
    kinds.map(async ({ id, name, places }) => {
      for (const place of places[os]) {
        const program = await programs.find(place.startsWith('~/') ? join(home, place.slice(2)) : place)
        if (program !== undefined) return { id, name, program }
      }
      return undefined
    }),
  )
  return found.filter(editor => editor !== undefined)
}

/**
 * Opens an editor on a `Host` of the SSH config. `id` is from `findEditors`; empty means the first.
 * Throws `no_editor`, and `bad_address` for a name that Berth would not have written there.
 */
export async function openEditor(needs: EditorNeeds, id: string, host: string): Promise<void> {
  if (!/^berth-[a-z0-9][a-z0-9._-]*$/.test(host))
    throw new BerthError({ code: 'bad_address', message: 'Berth has no such name in the SSH config.' })
  const editors = await findEditors(needs)
  const editor = id === '' ? editors[0] : editors.find(candidate => candidate.id === id)
  const kind = kinds.find(candidate => candidate.id === editor?.id)
  if (editor === undefined || kind === undefined) throw new BerthError(noEditor(id))
  await needs.programs.launch(editor.program, kind.args(host))
}

const noEditor = (id: string): Problem => ({
  code: 'no_editor',
  message:
    id === ''
      ? 'No editor that Berth supports was found on this computer.'
      : `The editor “${id}” isn’t installed on this computer.`,
  advice: `Install ${kinds.map(({ name }) => name).join(', ')}, or choose another one in Settings.`,
})

type Os = 'linux' | 'darwin' | 'win32'

/** A program that edits files on a `Host` of the SSH config. */
interface EditorKind {
  id: string
  name: string
  /** Possible places, the likeliest first: names on the PATH, absolute paths, or paths in the home folder. */
  places: Readonly<Record<Os, readonly string[]>>
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

const kinds: readonly EditorKind[] = [
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
