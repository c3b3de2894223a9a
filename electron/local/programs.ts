import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Programs } from '../ports/programs.ts'

/** Programs on the PATH of `env`, started without a shell. */
export function systemPrograms(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Programs {
  const endings = platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE').split(';')] : ['']

  async function find(name: string): Promise<string | undefined> {
    if (isAbsolute(name)) return (await isProgram(name)) ? name : undefined
    if (!/^[A-Za-z0-9._+-]+$/.test(name)) return undefined
    // A relative entry of the PATH would find whatever lies in the current folder.
    const folders = (env['PATH'] ?? '').split(delimiter).filter(folder => isAbsolute(folder))
    for (const folder of folders) {
      for (const ending of endings) {
        const candidate = join(folder, name + ending)
        if (await isProgram(candidate)) return candidate
      }
    }
    return undefined
  }

  function launch(program: string, args: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { detached: true, stdio: 'ignore', shell: false, env })
      child.once('error', reject)
      child.once('spawn', () => {
        child.unref()
        resolve()
      })
    })
  }

  return { find, launch }
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
