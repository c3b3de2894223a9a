import type { Autostart } from './autostart.ts'
import type { BrowserDownloads, FileDialogs } from './chosen-files.ts'
import type { Clock } from './clock.ts'
import type { CommandFile } from './command-file.ts'
import type { Downloads } from './downloads.ts'
import type { Files } from './files.ts'
import type { Keychain } from './keychain.ts'
import type { Links } from './links.ts'
import type { Notifier } from './notifier.ts'
import type { Opener } from './opener.ts'
import type { Programs } from './programs.ts'
import type { Random } from './random.ts'
import type { SyncedFolders } from './synced-folders.ts'
import type { Updater } from './updater.ts'

/** Berth's access to the machine it runs on. */
export interface Machine {
  clock: Clock
  downloads: Downloads
  files: Files
  keychain: Keychain
  notifier: Notifier
  opener: Opener
  programs: Programs
  random: Random
  syncedFolders: SyncedFolders
  /** Absent in browser mode, where the browser asks for files. */
  fileDialogs?: FileDialogs
  /** Absent in browser mode, and where this machine cannot start Berth at login. */
  autostart?: Autostart
  /** Absent on Windows. */
  commandFile?: CommandFile | undefined
  /** Absent in browser mode. */
  links?: Links
  /** Only in browser mode, where the browser downloads files itself. */
  browserDownloads?: BrowserDownloads
  /** Absent if no update address is set, and in browser mode. */
  updater?: Updater
  platform: 'linux' | 'darwin' | 'win32'
  /** The user's home folder, with `.ssh`. */
  home: string
  /** The socket path of the user's SSH agent, or its pipe on Windows; absent without an agent. */
  sshAgent?: string
}
