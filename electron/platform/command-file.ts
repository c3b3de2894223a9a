import { lstat, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { BerthError } from '../shared/problem.ts'
import { quote } from '../ssh/ssh-command.ts'
import { readOwnFile } from './own-file.ts'
import type { CommandFile } from './platform.ts'

interface CommandFileOptions {
  platform: NodeJS.Platform
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** The program to run, and its first arguments. */
  command: readonly string[]
}

const ours = '# The command berth. Written by Berth, and removed in its Settings.'

/** The script `berth` in the user's own folder for programs. Undefined on Windows, which has no such folder. */
export function userCommandFile({
  platform,
  env,
  home,
  command,
}: CommandFileOptions): CommandFile | undefined {
  if (platform === 'win32') return undefined
  const path = join(home, '.local/bin/berth')
  // The script finds the Berth that wrote it, unless the caller's environment names another folder.
  const folder = env['BERTH_HOME']
    ? [`export BERTH_HOME="\${BERTH_HOME:-${inQuotes(env['BERTH_HOME'])}}"`]
    : []
  const text = ['#!/bin/sh', ours, ...folder, `exec ${quote(command)} "$@"`, ''].join('\n')
  const found = () => readOwnFile(path).catch(() => undefined)

  return {
    path: '~/.local/bin/berth',
    isThere: async () => (await found())?.includes(ours) ?? false,
    async write() {
      const before = await found()
      if (before === text) return
      const isOthers = before === undefined ? await isThere(path) : !before.includes(ours)
      if (isOthers)
        throw new BerthError({
          code: 'command_taken',
          message: `${path} already exists and isn’t Berth’s.`,
          advice: 'Move it elsewhere, then try again.',
        })
      try {
        await mkdir(dirname(path), { recursive: true })
        await writeFileAtomic(path, text, { mode: 0o755 })
      } catch (error) {
        const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
        throw new BerthError({
          code: 'command_not_written',
          message: `${path} could not be written${reason}.`,
        })
      }
    },
    async remove() {
      if ((await found())?.includes(ours)) await rm(path, { force: true })
    },
  }
}

/** Escapes text for use between a shell's double quotes. */
function inQuotes(text: string): string {
  return text.replaceAll(/["\\$`]/g, '\\$&')
}

/** Whether anything has that name, such as a folder or a pipe. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
