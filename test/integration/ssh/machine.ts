import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock, Files, Programs } from '#machine/machine.ts'

/** The ports that ssh needs: real files in a scratch folder, real time, programs on the PATH. */
export interface ScratchMachine {
  files: Files
  clock: Clock
  programs: Programs
  home: string
  platform: 'linux'
  /** The launched programs, in order. */
  launched: { program: string; args: readonly string[] }[]
  remove(): void
}

export function scratchMachine(): ScratchMachine {
  const folder = mkdtempSync(join(tmpdir(), 'berth-ssh-'))
  const home = join(folder, 'home')
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const launched: ScratchMachine['launched'] = []
  return {
    files: filesIn(join(folder, 'berth home')),
    clock: realClock,
    programs: {
      find: async name =>
        (process.env['PATH'] ?? '')
          .split(':')
          .map(at => join(at, name))
          .find(existsSync),
      launch: async (program, args) => void launched.push({ program, args }),
    },
    home,
    platform: 'linux',
    launched,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }),
  }
}

const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}

function filesIn(folder: string): Files {
  const path = (name: string) => join(folder, name)
  return {
    path,
    read: name => readFile(path(name), 'utf8').catch(() => undefined),
    async write(name, text) {
      await mkdir(dirname(path(name)), { recursive: true })
      await writeFile(`${path(name)}.new`, text, { mode: 0o600 })
      await rename(`${path(name)}.new`, path(name))
    },
    async append(name, text) {
      await mkdir(dirname(path(name)), { recursive: true })
      await appendFile(path(name), text, { mode: 0o600 })
    },
    async readPart(name, from, most) {
      const bytes = await readFile(path(name)).catch(() => Buffer.alloc(0))
      return bytes.subarray(from, from + most)
    },
    async list(folder) {
      const names = await readdir(path(folder)).catch(() => [])
      return Promise.all(
        names.map(async name => ({ name, size: (await stat(join(path(folder), name))).size })),
      )
    },
    delete: name => rm(path(name), { force: true }),
  }
}
