/**
 * What the user chose on this machine, as things that can be read or written rather than as paths: nobody above knows
 * where they lie.
 */
export interface FileDialogs {
  /** Empty when the user chose nothing. */
  chooseFiles(): Promise<readonly ChosenItem[]>
  chooseFolders(): Promise<readonly ChosenItem[]>
  /** Where downloads go; undefined when the user chose nothing. */
  chooseTarget(): Promise<ChosenFolder | undefined>
}

/** A chosen file or folder, to be sent. */
export interface ChosenItem {
  readonly name: string
  /**
   * It, and all that is in it, folders before what is in them. Links in it are followed to files in it, and left out
   * otherwise.
   */
  list(): Promise<SourceList>
}

export interface SourceList {
  folders: readonly (readonly string[])[]
  files: readonly Source[]
  leftOut: number
}

/** A file to be sent. */
export interface Source {
  /** From what was chosen down to it. */
  readonly path: readonly string[]
  readonly size: number
  /** Epoch milliseconds. */
  readonly modified: number
  readonly executable: boolean
  open(): Promise<OpenSource>
}

export interface OpenSource {
  /** Fills the buffer from that offset on; fewer bytes only at the end. Rejects when it cannot be read any more. */
  read(offset: number, into: Uint8Array): Promise<number>
  close(): Promise<void>
}

/** A folder that downloads go into. Names are single steps that this system takes as they are; nothing leaves it. */
export interface ChosenFolder {
  readonly name: string
  /** Where it is, for Berth's own memory: it is not told to the page. */
  readonly path: string
  /** The name itself, or with a number, so that nothing is there yet. */
  freshName(name: string): Promise<string>
  makeFolder(path: readonly string[]): Promise<void>
  /**
   * Goes on with what arrived of the file before under its temporary name, or begins it. `version` tells whether what
   * arrived is of the same file.
   */
  receive(path: readonly string[], version: string): Promise<Sink>
}

/** A file being received, in order, under a temporary name beside its own. */
export interface Sink {
  /** Bytes that are there already. */
  readonly size: number
  /** The last bytes of those, as many as asked for. */
  tail(length: number): Promise<Uint8Array>
  /** Forgets what came after so many bytes. */
  cutTo(size: number): Promise<void>
  /**
   * Resolves once they are written; until then they are lent. Called again before, they queue and go in their order;
   * after a failure none that queued is written.
   */
  write(bytes: Uint8Array): Promise<void>
  /** Gives it its own name. `modified` in epoch seconds. Rejects when something has got that name meanwhile. */
  finish(modified: number): Promise<void>
  /** Keeps what arrived, to go on later. */
  leave(): Promise<void>
  /** Removes what arrived. */
  discard(): Promise<void>
}

/** Downloads that the user's browser takes, where the page runs in one. */
export interface BrowserDownloads {
  /**
   * An address on the page's own server that gives this once. `serve` is called when the browser comes for it,
   * `unused` when it did not come within a minute.
   */
  offer(download: BrowserDownload): string
}

export interface BrowserDownload {
  /** The file's name, harmless on any system. */
  name: string
  /** Bytes, where they are known. */
  size?: number
  serve(sink: ByteSink): void
  unused(): void
}

/** Where the bytes go: in order, no faster than they are taken. */
export interface ByteSink {
  /** Set by who sends; called when the other side leaves before the end. */
  onLeave: () => void
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Breaks off, so that the browser knows that it is not whole. */
  abort(): void
}
