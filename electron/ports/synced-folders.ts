import type { OpenSource } from './chosen-files.ts'

/** Local folders that are synced with instances. Berth stores their paths; the page cannot choose any. */
export interface SyncedFolders {
  at(path: string): SyncedFolder
}

/** A synced folder. Paths are relative to it, with `/` between names; a path that leaves it is refused. */
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
  /** Also makes its parents. False if a file or a link is in the way. */
  makeFolder(path: string): Promise<boolean>
  /** Writes a file under a temporary name beside its own. Throws `disk_full_here`. */
  receive(path: string): Promise<Receiving>
  /** The closest repository around it, if that names this folder as its own. */
  repository(): Repository | undefined
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

/** What the rules of git leave out below a folder, as git says it; without git, the texts to find it out. */
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

export interface FileContent extends FileFacts {
  bytes: Buffer
}

export interface OpenFile extends OpenSource, FileFacts {}

export interface Receiving {
  write(bytes: Uint8Array): Promise<void>
  /** Moves it to `path`, replacing any file there. `modified` in epoch seconds. */
  finish(path: string, modified: number): Promise<void>
  discard(): Promise<void>
}
