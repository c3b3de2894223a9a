import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Autostart } from '../../ports/autostart.ts'
import { autostartEntry, isEnabled } from './desktop-entry.ts'

export interface LinuxAutostartOptions {
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** What starts Berth: a program and its arguments. */
  command: readonly string[]
}

/** The user's autostart folder, with one file of Berth's in it. */
export function linuxAutostart({ env, home, command }: LinuxAutostartOptions): Autostart {
  const folder = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'autostart')
  const file = join(folder, 'berth.desktop')
  return {
    async isOn() {
      const entry = await readFile(file, 'utf8').catch(() => undefined)
      return entry !== undefined && isEnabled(entry)
    },
    async choose(how) {
      if (how === 'no') return rm(file, { force: true })
      await mkdir(folder, { recursive: true })
      const entry = autostartEntry(how === 'tray' ? [...command, '--hidden'] : command)
      await writeFileAtomic(file, entry, { mode: 0o644 })
    },
  }
}
