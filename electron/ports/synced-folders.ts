import type { OpenSource } from './chosen-files.ts'

/** Folders of this machine that are kept in step with instances. Berth remembers their paths; the page names none. */
export interface SyncedFolders {
  at(path: string): SyncedFolder
}

/** One of them. Paths in it are names joined by `/`, below it; a path that leads out of it is refused. */
export interface SyncedFolder {
  /** Absolute. */
  readonly path: string
  /** What lies in one of its folders; `''` is itself. Throws `no_such_folder`. */
  list(folder: string): Promise<readonly LocalEntry[]>
  /** Undefined where nothing is. A link is not followed. */
  stat(path: string): Promise<LocalEntry | undefined>
  /** All of a file of at most so many bytes, or undefined where it has become larger, no file, or unreadable. */
  read(path: string, most: number): Promise<FileContent | undefined>
  /** Undefined where it is no file any more, or cannot be read. */
  open(path: string): Promise<OpenFile | undefined>
  /** Makes a file. False where anything is there already: that stays as it is. Throws `disk_full_here`. */
  create(path: string, text: string): Promise<boolean>
  /** With those above it. False where a file or a link lies in its way. */
  makeFolder(path: string): Promise<boolean>
  /** Writes a file under a temporary name beside its own. Throws `disk_full_here`. */
  receive(path: string): Promise<Receiving>
  /**
   * The files in it that git tracks and that are not as in a commit, by their paths from the top of the repository. Nothing
   * of its configuration is done. Undefined where git is not there, or cannot tell soon.
   */
  changedSince(commit: string, repository: Repository): Promise<readonly string[] | undefined>
}

/** Where git has what it knows of a folder: absolute paths. */
export interface Repository {
  /** What holds all of its files. */
  top: string
  /** Its `.git`; of a worktree the part that is its own, and the one that all share. */
  own: string
  shared: string
}

/** Size in bytes, `modified` in epoch seconds with their fraction. */
export interface FileFacts {
  size: number
  modified: number
  executable: boolean
}

export interface LocalEntry extends FileFacts {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
  /** Where a link leads, as a path from the folder it lies in; absent where that is outside. */
  target?: string
}

export interface FileContent extends FileFacts {
  bytes: Buffer
}

export interface OpenFile extends OpenSource, FileFacts {}

export interface Receiving {
  write(bytes: Uint8Array): Promise<void>
  /** Gives it its path, in place of what is there, and the time of its last change in epoch seconds. */
  finish(path: string, modified: number): Promise<void>
  discard(): Promise<void>
}
