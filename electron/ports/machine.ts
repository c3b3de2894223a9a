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

/** All that Berth needs from the machine it runs on. */
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
  /** Where the shell can ask the user for files; absent in browser mode, where the browser asks. */
  fileDialogs?: FileDialogs
  /** Where this machine can start Berth by itself; absent in browser mode. */
  autostart?: Autostart
  /** Where shells of this machine can find the command `berth`; absent on Windows. */
  commandFile?: CommandFile | undefined
  /** Where links of this desktop lead to Berth; absent in browser mode. */
  links?: Links
  /** Where a browser shows the page, and takes downloads itself. */
  browserDownloads?: BrowserDownloads
  /** Where newer versions come from; absent while no update address is set, and in browser mode. */
  updater?: Updater
  platform: 'linux' | 'darwin' | 'win32'
  /** The user's home folder, where `.ssh` lies. */
  home: string
  /** Where the user's SSH agent listens: a path, or on Windows a pipe; absent where none was announced. */
  sshAgent?: string
}
