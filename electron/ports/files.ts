/** Berth's own files, below BERTH_HOME. Names are relative, with forward slashes. */
export interface Files {
  /** The absolute path of a name, for other programs. */
  path(name: string): string
  /** The text, or undefined if there is no such file. */
  read(name: string): Promise<string | undefined>
  /** Replaces the whole file, atomically. It is on disk once this resolves, and readable by the user alone. */
  write(name: string, text: string): Promise<void>
  /** Appends to the file, or creates it, readable by the user alone. */
  append(name: string, content: string | Uint8Array): Promise<void>
  /** At most `most` bytes from the byte `from` on; none if there is no such file. */
  readPart(name: string, from: number, most: number): Promise<Buffer>
  /** The files in a folder with their sizes in bytes; none if there is no such folder. */
  list(folder: string): Promise<readonly { name: string; size: number }[]>
  delete(name: string): Promise<void>
}
