import { homedir } from 'node:os'
import type { Files } from '../ports/files.ts'
import type { Machine } from '../ports/machine.ts'
import { childEnv } from './child-env.ts'
import { systemDownloads } from './chosen/downloads.ts'
import { systemSyncedFolders } from './chosen/synced-folders.ts'
import { systemClock } from './clock.ts'
import { openKeychain } from './keychain/open-keychain.ts'
import { systemOpener } from './opener.ts'
import { oneUseAddress } from './private-open/one-use-address.ts'
import { systemPrograms } from './programs.ts'
import { systemRandom } from './random.ts'
import { agentSocket } from './ssh-agent.ts'
import type { Shutdown } from './start/shutdown.ts'

/** Every platform but macOS and Windows is treated as Linux. */
function platformOf(platform: NodeJS.Platform): Machine['platform'] {
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux'
}

/** What opens pages and starts programs on this machine, which waits for nothing. */
export function openPrograms(files: Files): Pick<Machine, 'opener' | 'programs' | 'platform'> {
  const platform = platformOf(process.platform)
  const programs = systemPrograms(childEnv(process.env), platform)
  const opener = systemOpener(programs, platform, {
    files,
    clock: systemClock,
    leadOnce: address => oneUseAddress(address, systemClock),
  })
  return { opener, programs, platform }
}

/** The ports on this machine, once its keychain has answered. The shells differ in `files` and in how they notify. */
export async function openMachine(files: Files, shutdown?: Shutdown): Promise<Omit<Machine, 'notifier'>> {
  return {
    ...openPrograms(files),
    clock: systemClock,
    downloads: systemDownloads(homedir()),
    files,
    keychain: await openKeychain(systemClock, isBlocked => shutdown?.addBlock(isBlocked)),
    random: systemRandom,
    syncedFolders: systemSyncedFolders,
    home: homedir(),
    sshAgent: agentSocket(process.env, process.platform),
  }
}
