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
  /** What was chosen before, at the paths that Berth has stored. */
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
