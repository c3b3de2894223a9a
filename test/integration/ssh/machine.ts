import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { openFiles } from '#platform/files.ts'
import type { Clock, Files, Programs } from '#platform/platform.ts'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'

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
    files: openFiles(join(folder, 'berth home')),
    clock: { ...systemClock },
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

/** Berth's ssh on a machine of its own, with that clock; both end with the test. */
export function openScratch(clock: Clock = { ...systemClock }): { machine: ScratchMachine; ssh: Ssh } {
  const platform = { ...scratchMachine(), clock }
  onTestFinished(() => platform.remove())
  const ssh = createSsh(platform)
  onTestFinished(() => ssh.close())
  return { machine: platform, ssh }
}
