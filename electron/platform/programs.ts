import { execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, lstat, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Programs } from './platform.ts'

/** Milliseconds until a program that runs to its end is killed; the user may have to answer a prompt. */
const patience = 60_000

/** Programs on the PATH of `env`, started with `env` and without a shell. */
export function systemPrograms(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Programs {
  const endings = platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE').split(';')] : ['']

  async function find(name: string): Promise<string | undefined> {
    if (isAbsolute(name)) return (await isProgram(name)) ? name : undefined
    if (!/^[A-Za-z0-9._+-]+$/.test(name)) return undefined
    // A relative entry of the PATH would find programs in the current folder.
    const folders = (env['PATH'] ?? '').split(delimiter).filter(folder => isAbsolute(folder))
    for (const folder of folders) {
      for (const ending of endings) {
        const candidate = join(folder, name + ending)
        if (await isProgram(candidate)) return candidate
      }
    }
    return undefined
  }

  function start(program: string, args: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { detached: true, stdio: 'ignore', shell: false, env })
      child.once('error', reject)
      child.once('spawn', () => {
        child.unref()
        resolve()
      })
    })
  }

  async function run(program: string, args: readonly string[]): Promise<void> {
    try {
      await promisify(execFile)(program, args, { env, timeout: patience, windowsHide: true })
    } catch (error) {
      throw new Error(lastWords(error), { cause: error })
    }
  }

  return { find, launch: (program, args, how) => (how?.untilEnd ? run : start)(program, args) }
}

/** Why a program failed: its last line on stderr, or else the system's message. */
function lastWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('killed' in error && error.killed === true) return 'it did not end within a minute'
  const stderr = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : ''
  return stderr.split('\n').at(-1) || error.message
}

/** `stat` fails for Windows Terminal, a link that only Windows itself follows, although it can be started. */
async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return !(await isFolder(path))
  } catch {
    return false
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return (await lstat(path)).isDirectory()
  }
}

/** Lists to which an AppImage adds its own folders, for its own program (app-builder-lib, AppRun). */
const lists = ['PATH', 'LD_LIBRARY_PATH', 'XDG_DATA_DIRS', 'GSETTINGS_SCHEMA_DIR']

/** Variables that locate the AppImage, and Electron's name for its desktop entry. */
const own = ['APPDIR', 'APPIMAGE', 'ARGV0', 'OWD', 'CHROME_DESKTOP']

/**
 * The environment for child processes, without Berth's own additions: otherwise the user's terminal and browser would
 * load the AppImage's libraries.
 */
export function childEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { APPDIR: appDir } = env
  const clean = { ...env }
  for (const name of own) delete clean[name]
  if (!appDir) return clean
  for (const name of lists) {
    const folders = clean[name]
      ?.split(':')
      .filter(folder => folder !== appDir && !folder.startsWith(`${appDir}/`))
    if (folders === undefined) continue
    if (folders.some(Boolean)) clean[name] = folders.filter(Boolean).join(':')
    else delete clean[name]
  }
  return clean
}
