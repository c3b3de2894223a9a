import { readFileSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'

const shared = '/dev/shm'
/** Bytes that must be free there: several times what tests that run at once have been seen to keep. */
const room = 4e9

/**
 * Where the tests keep their files: in memory, since most wait for a disk to have each of them. Undefined, for the
 * system's own folder, where Linux has no such place with that much room, and as much again for all that runs, or where
 * nothing may be started from it.
 */
export function memoryFolder(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
    .find(([, folder, type]) => folder === shared && type === 'tmpfs')
  const options = mount?.[3]?.split(',') ?? ['ro']
  if (options.includes('ro') || options.includes('noexec')) return undefined
  const { bavail, bsize } = statfsSync(shared)
  return bavail * bsize >= room && freemem() >= 2 * room ? shared : undefined
}
