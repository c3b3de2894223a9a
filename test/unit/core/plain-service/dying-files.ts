import type { Files } from '../../../../electron/ports/files.ts'
import type { Keychain } from '../../../../electron/ports/keychain.ts'
import type { MemoryFiles } from '../memory-files.ts'
import type { Turns } from './turns.ts'

/**
 * The disk as a Berth has it that may end at any moment: each write waits for its turn, and a dead one writes nothing.
 * `written` hears of each, since a kill may leave the disk as it is after any.
 */
export function dyingFiles(
  files: MemoryFiles,
  turns: Turns,
  dead: AbortSignal,
  written: (name: string) => void,
): Files {
  return {
    path: name => files.path(name),
    read: name => files.read(name),
    async write(name, text) {
      await turns.take(dead)
      await files.write(name, text)
      written(name)
    },
    append: (name, content) => files.append(name, content),
    readPart: (name, from, most) => files.readPart(name, from, most),
    list: folder => files.list(folder),
    async delete(name) {
      await turns.take(dead)
      await files.delete(name)
    },
  }
}

/** The same of a keychain. */
export function dyingKeychain(entries: Map<string, string>, turns: Turns, dead: AbortSignal): Keychain {
  return {
    persistent: true,
    async get(name) {
      await turns.take(dead)
      return entries.get(name)
    },
    async set(name, secret) {
      await turns.take(dead)
      entries.set(name, secret)
    },
    async delete(name) {
      await turns.take(dead)
      entries.delete(name)
    },
  }
}
