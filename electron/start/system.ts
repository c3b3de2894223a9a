import { homedir } from 'node:os'
import { oneUseAddress } from '../browser/one-use-address.ts'
import { systemDownloads } from '../platform/chosen-files.ts'
import { systemClock, systemRandom } from '../platform/clock-and-random.ts'
import { openKeychain } from '../platform/keychain.ts'
import { systemOpener } from '../platform/opener.ts'
import type { Files, Platform } from '../platform/platform.ts'
import { childEnv, systemPrograms } from '../platform/programs.ts'
import { systemSyncedFolders } from '../platform/synced-folders.ts'
import type { Shutdown } from './shutdown.ts'

/** Every platform but macOS and Windows is treated as Linux. */
function platformOf(platform: NodeJS.Platform): Platform['os'] {
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux'
}

/** What opens pages and starts programs on this machine, which waits for nothing. */
export function openPrograms(files: Files): Pick<Platform, 'opener' | 'programs' | 'os'> {
  const platform = platformOf(process.platform)
  const programs = systemPrograms(childEnv(process.env), platform)
  const opener = systemOpener(programs, platform, {
    files,
    clock: systemClock,
    leadOnce: address => oneUseAddress(address, systemClock),
  })
  return { opener, programs, os: platform }
}

/** The ports on this machine, once its keychain has answered. The shells differ in `files` and in how they notify. */
export async function openPlatform(files: Files, shutdown?: Shutdown): Promise<Omit<Platform, 'notifier'>> {
  return {
    ...openPrograms(files),
    clock: systemClock,
    downloads: systemDownloads(homedir()),
    files,
    keychain: await openKeychain(systemClock, shutdown?.nativeCalls),
    random: systemRandom,
    syncedFolders: systemSyncedFolders,
    home: homedir(),
    sshAgent: agentSocket(process.env, process.platform),
  }
}

/** The address of the user's SSH agent: a path, or on Windows a pipe. */
function agentSocket(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  const socket = env['SSH_AUTH_SOCK']
  if (socket) return socket
  return platform === 'win32' ? String.raw`\\.\pipe\openssh-ssh-agent` : undefined
}
