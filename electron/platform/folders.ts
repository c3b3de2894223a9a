/**
 * Dialogs for files on this machine. They give objects to read and write instead of paths, so that the layers above do
 * not know where the files are.
 */
export interface FileDialogs {
  /** Empty if the user chose nothing. */
  chooseFiles(): Promise<readonly ChosenItem[]>
  chooseFolders(): Promise<readonly ChosenItem[]>
  /** A folder for downloads; undefined if the user chose nothing. */
  chooseTarget(): Promise<ChosenFolder | undefined>
  /** Folders and files chosen earlier, by their stored paths. */
  itemAt(path: string): ChosenItem
  folderAt(path: string): ChosenFolder
}

/** A chosen file or folder to upload. */
export interface ChosenItem {
  readonly name: string
  /** Its path, for Berth's own files: the page does not learn it. */
  readonly path: string
  /**
   * The item and its whole content, folders before their entries. Links to files within it are followed, other links
   * left out.
   */
  list(): Promise<SourceList>
}

export interface SourceList {
  folders: readonly (readonly string[])[]
  files: readonly Source[]
  leftOut: number
}

/** A file to upload. */
export interface Source {
  /** The names from the chosen item down to it. */
  readonly path: readonly string[]
  /** Where it is a link: the names down to the file that it leads to. */
  readonly target?: readonly string[]
  readonly size: number
  /** Epoch milliseconds. */
  readonly modified: number
  readonly executable: boolean
  open(): Promise<OpenSource>
}

export interface OpenSource {
  /** Fills the buffer from this offset; fewer bytes only at the end. Rejects if it cannot be read any more. */
  read(offset: number, into: Uint8Array): Promise<number>
  close(): Promise<void>
}

/** A folder for downloads. Names are single path steps, valid on this system; nothing is written outside of it. */
export interface ChosenFolder {
  readonly name: string
  /** Its path, for Berth's own files: the page does not learn it. */
  readonly path: string
  /** An unused name: this one, or with a number. */
  freshName(name: string): Promise<string>
  makeFolder(path: readonly string[]): Promise<void>
  /**
   * Continues a partial download under its temporary name, or begins one. `version` tells whether the part belongs to
   * the same file.
   */
  receive(path: readonly string[], version: string): Promise<Sink>
}

/** A file being received, in order, under a temporary name beside its own. */
export interface Sink {
  /** Bytes received so far. */
  readonly size: number
  /** The last `length` of those bytes. */
  tail(length: number): Promise<Uint8Array>
  /** Drops all bytes after this size. */
  cutTo(size: number): Promise<void>
  /**
   * Resolves once they are written; until then the buffer must not change. Further calls queue up in order; after a
   * failure no queued bytes are written.
   */
  write(bytes: Uint8Array): Promise<void>
  /** Renames it to its own name. `modified` in epoch seconds. Rejects if the name was taken meanwhile. */
  finish(modified: number): Promise<void>
  /** Keeps the received part, to continue later. */
  leave(): Promise<void>
  /** Deletes the received part. */
  discard(): Promise<void>
}

/** Downloads by the user's browser, if the page runs in one. */
export interface BrowserDownloads {
  /**
   * An address on the page's own server that serves this once. `serve` is called at the browser's request, `unused`
   * after a minute without one.
   */
  offer(download: BrowserDownload): string
}

export interface BrowserDownload {
  /** The file's name, harmless on any system. */
  name: string
  /** Bytes, if known. */
  size?: number
  serve(sink: ByteSink): void
  unused(): void
}

/** The browser's side of a download: takes bytes in order, with backpressure. */
export interface ByteSink {
  /** Set by the sender; called if the browser disconnects before the end. */
  onLeave: () => void
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Breaks the connection, so that the browser notices the incomplete download. */
  abort(): void
}

/** Folders for Berth's own downloads. Berth stores their paths; the page cannot choose any. */
export interface Downloads {
  /** The absolute path of Berth's own folder, in the user's downloads. */
  readonly own: string
  /** The folder at a path that Berth has stored; created if it is missing. */
  at(path: string): Promise<ChosenFolder>
}

/** Local folders that are synced with instances. Berth stores their paths; the page cannot choose any. */
export interface SyncedFolders {
  at(path: string): SyncedFolder
}

/**
 * A synced folder. Paths are relative to it, with `/` between names; a path that leaves it is refused. Everything throws
 * `folder_silent` where the folder doesn't answer, as on a network disk that is away.
 */
export interface SyncedFolder {
  /** Absolute. */
  readonly path: string
  /** The entries of one of its folders; `''` is the folder itself. Throws `no_such_folder`. */
  list(folder: string): Promise<readonly LocalEntry[]>
  /** Undefined if nothing is there. Does not follow a link. */
  stat(path: string): Promise<LocalEntry | undefined>
  /** A whole file; undefined if it is larger than `most` bytes, no file any more, or unreadable. */
  read(path: string, most: number): Promise<FileContent | undefined>
  /** Undefined if it is no file any more, or unreadable. */
  open(path: string): Promise<OpenFile | undefined>
  /** Creates a file. False if anything exists there, which stays unchanged. Throws `disk_full_here`. */
  create(path: string, text: string): Promise<boolean>
  /** Replaces the text of a file, which keeps its permissions. False if none is there. Throws `disk_full_here`. */
  replace(path: string, text: string): Promise<boolean>
  /** Also makes its parents. False if a file or a link is in the way. */
  makeFolder(path: string): Promise<boolean>
  /** Makes a link to a relative path, in place of another link. False if anything else is there, or it can't be made. */
  makeLink(path: string, target: string): Promise<boolean>
  /** Writes a file under a temporary name beside its own. Throws `disk_full_here`. */
  receive(path: string): Promise<Receiving>
  /** Removes the earlier versions that were kept. */
  removeEarlier(): Promise<void>
  /** The closest repository around it, if that names this folder as its own. */
  repository(): Promise<Repository | undefined>
  /** The rules of git in force below one of its folders. Nothing that a repository's configuration names is run. */
  rules(folder: string, signal?: AbortSignal): Promise<FolderRules>
  /**
   * The tracked files in it that differ from a commit, by their paths from the repository's top. Ignores the
   * repository's configuration, which could run programs. Undefined without git, or if it does not answer soon.
   */
  changedSince(commit: string, repository: Repository): Promise<readonly string[] | undefined>
}

/** The git repository of a folder: absolute paths. */
export interface Repository {
  /** The folder with all of its files. */
  top: string
  /** Its `.git`; for a worktree its own part, and the shared one. */
  own: string
  shared: string
}

/** The paths that git ignores below a folder, as git lists them; without git, the rules themselves. */
export interface FolderRules {
  ignoreCase: boolean
  /**
   * The entries that git ignores, by their paths from the folder; one of a folder ends with `/` and means all of it.
   * Absent without git, and where the rules outside of the folder leave out the folder itself.
   */
  ignored?: ReadonlySet<string>
  /** The ignore files outside of the folder, the strongest last. `within` leads from where they apply to the folder. */
  outside: readonly { within: string; text: string }[]
  /** Ignore files outside of it that are links, which git does not follow: absolute paths. */
  linked: readonly string[]
}

/** Size in bytes, `modified` in epoch seconds with fraction. */
export interface FileFacts {
  size: number
  modified: number
  executable: boolean
}

export interface LocalEntry extends FileFacts {
  name: string
  /**
   * `unreadable`: not permitted. `misnamed`: its name is no Unicode text, and `name` shows it with the letter �.
   * `vanished`: it went while the folder was read.
   */
  kind: 'file' | 'folder' | 'link' | 'other' | 'unreadable' | 'misnamed' | 'vanished'
  /** A link's target, relative to the folder that it is in; absent if it is outside. */
  target?: string
}

interface FileContent extends FileFacts {
  bytes: Buffer
}

export interface OpenFile extends OpenSource, FileFacts {}

/**
 * The folder in a synced one with the versions before those that were received last, at the same paths; in a folder of its own
 * there what each run before had, which neither the next versions nor those of the next runs replace.
 */
export const earlierName = '.berth-earlier'
export const ofRun = (run: string): string => `of run ${run}`

/** Whose version a file is that another one replaces: of the same run, or of a run before. */
export type ReplacedFile = { of: 'itself' } | { of: 'run'; run: string }

export interface Receiving {
  write(bytes: Uint8Array): Promise<void>
  /** Ends the content: until `finish`, no file is held open. `modified` in epoch seconds. */
  complete(modified: number, executable: boolean): Promise<void>
  /** Moves it to `path`, replacing any file there, which is kept where it says whose that is. */
  finish(path: string, replaced?: ReplacedFile): Promise<void>
  discard(): Promise<void>
}
