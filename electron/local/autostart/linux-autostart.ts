import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Autostart } from '#ports/autostart.ts'
import { autostartEntry, isEnabled, isHidden } from './desktop-entry.ts'

export interface LinuxAutostartOptions {
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** The program that starts Berth, and its arguments. */
  command: readonly string[]
}

/** An Autostart whose entry can become outdated, since the program that starts Berth may be moved or renamed. */
export interface LinuxAutostart extends Autostart {
  /** Updates an enabled entry that starts another command. */
  renew(): Promise<void>
}

/** Starts Berth at login by a desktop entry in the user's autostart folder. */
export function linuxAutostart({ env, home, command }: LinuxAutostartOptions): LinuxAutostart {
  const folder = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'autostart')
  const file = join(folder, 'berth.desktop')
  const read = () => readFile(file, 'utf8').catch(() => undefined)
  const entryFor = (how: 'window' | 'tray') =>
    autostartEntry(how === 'tray' ? [...command, '--hidden'] : command)
  const write = (entry: string) => writeFileAtomic(file, entry, { mode: 0o644 })
  return {
    async isOn() {
      const entry = await read()
      return entry !== undefined && isEnabled(entry)
    },
    async choose(how) {
      if (how === 'no') return rm(file, { force: true })
      await mkdir(folder, { recursive: true })
      await write(entryFor(how))
    },
    async renew() {
      const entry = await read()
      if (entry === undefined || !isEnabled(entry)) return
      const now = entryFor(isHidden(entry) ? 'tray' : 'window')
      if (now !== entry) await write(now)
    },
  }
}
