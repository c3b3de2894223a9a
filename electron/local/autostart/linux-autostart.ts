import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Autostart } from '../../ports/autostart.ts'
import { autostartEntry, isEnabled, isHidden } from './desktop-entry.ts'

export interface LinuxAutostartOptions {
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** What starts Berth: a program and its arguments. */
  command: readonly string[]
}

/** An Autostart whose entry can fall behind: what starts Berth may have got another name since. */
export interface LinuxAutostart extends Autostart {
  /** Writes the entry anew where it is there and starts something else. */
  renew(): Promise<void>
}

/** The user's autostart folder, with one file of Berth's in it. */
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
