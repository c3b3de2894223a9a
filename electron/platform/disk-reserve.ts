import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { BerthError } from '../shared/problem.ts'

/** Bytes that stay free on a disk, and the part of a small one: Berth has to save its records, and other programs write, too. */
const most = 256 * 1024 ** 2
const part = 0.02
/** Bytes after which the disk is asked again, since others write to it. */
const askedEach = 8 * 1024 ** 2

/**
 * Call with the number of bytes from elsewhere before they are written into a folder. Rejects with `disk_full_here` where the
 * disk would have less than its reserve. A disk that doesn't say what is free has none.
 */
export function diskReserve(
  folder: string,
  ask: (folder: string) => Promise<Pick<StatsFs, 'bsize' | 'blocks' | 'bavail'>> = statfs,
): (bytes: number) => Promise<void> {
  let left = 0
  return async bytes => {
    left -= bytes
    if (left >= 0) return
    const facts = await ask(folder).catch(() => undefined)
    if (!facts || facts.blocks === 0) return
    const room = facts.bavail * facts.bsize - Math.min(most, facts.blocks * facts.bsize * part) - bytes
    if (room < 0) throw new BerthError(almostFull)
    left = Math.min(askedEach, room)
  }
}

const almostFull = {
  code: 'disk_full_here',
  message: 'This computer’s disk is almost full: the rest stays free for it and for Berth.',
  advice: 'Free some space, then try again. Files that arrived complete are kept.',
}
