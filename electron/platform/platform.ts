import type { BrowserDownloads, Downloads, FileDialogs, SyncedFolders } from './folders.ts'

/** Berth's access to the machine it runs on. */
export interface Platform {
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
  /** Begins to end Berth, and returns. Absent where another program ends it. */
  quit?: () => void
  os: 'linux' | 'darwin' | 'win32'
  /** The user's home folder, with `.ssh`. */
  home: string
  /** The socket path of the user's SSH agent, or its pipe on Windows; absent without an agent. */
  sshAgent?: string
}

/** Whether Berth starts when the user logs in, and whether with its window or only in the tray. */
type StartAtLogin = 'no' | 'window' | 'tray'

/** The desktop's start of programs at login. */
export interface Autostart {
  /** Whether Berth starts at login; the user may change it outside of Berth. */
  isOn(): Promise<boolean>
  /** Rejects if it cannot be written. */
  choose(how: StartAtLogin): Promise<void>
}

/** Time on this machine. The account's time for events at the service is in core/instances/account-clock.ts. */
export interface Clock {
  /** Epoch milliseconds by this machine's clock, which may jump. For display, never for durations. */
  now(): number
  /** Milliseconds from an arbitrary zero, on a clock that never jumps back. */
  monotonic(): number
  /** Calls back once after these milliseconds; returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
}

/** The file through which shells find the command `berth`. */
export interface CommandFile {
  /** Its path, as people write it. */
  path: string
  /** Whether it exists and is Berth's. */
  isThere(): Promise<boolean>
  /** Writes or replaces it. Rejects with `command_taken` if the file is not Berth's, or `command_not_written`. */
  write(): Promise<void>
  /** Deletes it if it is Berth's. */
  remove(): Promise<void>
}

/** Berth's own files, below BERTH_HOME. Names are relative, with forward slashes. */
export interface Files {
  /** The absolute path of a name, for other programs. */
  path(name: string): string
  /**
   * The text, or undefined if there is no such file. Never waits, whatever is in its place. Rejects for anything but a file,
   * with the code `not_a_file` or `too_long`, and for one that may not be read.
   */
  read(name: string): Promise<string | undefined>
  /** Replaces the whole file, atomically. It is on disk once this resolves, and readable by the user alone. */
  write(name: string, text: string): Promise<void>
  /** Appends to the file, or creates it, readable by the user alone. */
  append(name: string, content: string | Uint8Array): Promise<void>
  /** At most `most` bytes from the byte `from` on; none if there is no such file. */
  readPart(name: string, from: number, most: number): Promise<Buffer>
  /** The files in a folder with their sizes in bytes; none if there is no such folder. */
  list(folder: string): Promise<readonly { name: string; size: number }[]>
  /** Moves what is there, even a folder, to a name that is free. Rejects with the code `EEXIST` where that is taken. */
  move(name: string, to: string): Promise<void>
  delete(name: string): Promise<void>
}

/** The operating system's keychain, service `berth`. One entry per name; the secrets are stored nowhere else. */
export interface Keychain {
  /** Why secrets don't outlive a restart, as a sentence for the user. Absent where they do. */
  readonly problem?: string | undefined
  /** Calls `tell` whenever it works again after a failure, or `problem` is another. Absent if neither can be. */
  onChange?(tell: () => void): void
  get(name: string): Promise<string | undefined>
  set(name: string, secret: string): Promise<void>
  delete(name: string): Promise<void>
}

/** The desktop's handler for `berth://` links. */
export interface Links {
  /** Unregisters Berth until its next start. Rejects if that cannot be written. */
  withdraw(): Promise<void>
}

/** Berth's log. Every line passes through a mask for secrets. */
export interface Log {
  line(text: string): void
  /** Masks this secret from now on, wherever it appears. */
  learn(secret: string): void
  /** The text with all known and likely secrets masked. */
  mask(text: string): string
  /** The newest lines, oldest first, also from earlier starts. */
  recent(): readonly string[]
}

/** A native notification. Texts are plain: implementations escape their platform's markup. */
export interface Notice {
  /** A later notice with the same id replaces the earlier one. */
  id: string
  title: string
  body: string
  urgency: 'low' | 'normal' | 'critical'
  /** Buttons, if the platform has them; at most three. */
  actions: readonly { id: string; label: string }[]
}

/** A time in which Berth's main thread stood still, so that no limit acted. */
export interface Freeze {
  /** Its end, epoch milliseconds on this machine. */
  at: number
  seconds: number
  /** Whether Berth ended itself and started anew. */
  restarted: boolean
}

/** `action` is undefined for a click on the notice itself. */
export type NoticeClick = (noticeId: string, action: string | undefined) => void

export interface Notifier {
  /** Whether this machine shows notifications; otherwise the page does. */
  readonly available: boolean
  show(notice: Notice): Promise<void>
  close(id: string): Promise<void>
  onClick(listener: NoticeClick): void
}

/** Opens addresses in the user's browser. */
export interface Opener {
  /** Opens an http or https address; refuses any other. */
  openLink(url: string): Promise<void>
  /** The same for an address with a secret, which must not appear in a command line that other users can list. */
  openPrivately(url: string): Promise<void>
}

/** Other programs on this machine. Arguments are a list and reach the program unchanged: no shell is involved. */
export interface Programs {
  /** The absolute path of a program on the PATH, or undefined. */
  find(name: string): Promise<string | undefined>
  /**
   * Starts a program that outlives Berth. Rejects if it cannot be started. With `untilEnd`, for a short one: resolves
   * at its end, and rejects with its last output if it fails, or runs for over a minute.
   */
  launch(program: string, args: readonly string[], how?: { untilEnd: boolean }): Promise<void>
}

export interface Random {
  /** Cryptographically random hexadecimal digits. */
  hex(digits: number): string
  /** From 0 up to 1, for jitter. */
  fraction(): number
}

/** The source of new versions of Berth. */
export interface Updater {
  /** The newest version; undefined if it is this one. */
  check(): Promise<string | undefined>
  /** Downloads and verifies the version that `check` found. `onPercent` gets the progress, 0 to 100. */
  fetch(onPercent: (percent: number) => void): Promise<void>
  /** Ends Berth; the new version takes its place and starts. */
  install(): void
}
