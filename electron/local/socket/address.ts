import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Where the command finds Berth: a Unix socket in Berth's own folder, which no other user can enter. Where there is none
 * (Windows has pipes instead, and a socket's path has a limit) the address is drawn anew for each run, and a file in that
 * folder says it.
 */

/** Bytes that the path of a socket may have: macOS takes the fewest. */
const longestPath = 103
const fileName = 'socket-address'

/** In Berth's folder, where that is possible. */
function plainAddress(home: string, platform: NodeJS.Platform): string | undefined {
  const path = join(home, 'berth.sock')
  return platform === 'win32' || Buffer.byteLength(path) > longestPath ? undefined : path
}

/** Where Berth's socket is if it runs; undefined where no Berth has said. */
export async function findAddress(home: string, platform: NodeJS.Platform): Promise<string | undefined> {
  return plainAddress(home, platform) ?? (await readFile(join(home, fileName), 'utf8').catch(() => undefined))
}

/** An address to listen at, and what takes away all that was made for it. Berth's folder must be there, and locked. */
export async function takeAddress(
  home: string,
  platform: NodeJS.Platform,
  random: (digits: number) => string,
): Promise<{ address: string; leave(): Promise<void> }> {
  const plain = plainAddress(home, platform)
  if (plain !== undefined) return { address: plain, leave: () => rm(plain, { force: true }) }
  const file = join(home, fileName)
  // Other users may see a name, so no two runs have the same: nobody can wait there for the next one's command.
  const folder = platform === 'win32' ? undefined : await mkdtemp('/tmp/berth-')
  const address = folder === undefined ? `\\\\.\\pipe\\berth-${random(32)}` : join(folder, 'berth.sock')
  await writeFile(file, address, { mode: 0o600 })
  return {
    address,
    async leave() {
      await rm(file, { force: true })
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}
