/** What Berth keeps on disk, below BERTH_HOME. Names are relative, with forward slashes. */
export interface Files {
  /** The absolute path of a name, for those who must hand it to another program. */
  path(name: string): string
  /** The text, or undefined when there is no such file. */
  read(name: string): Promise<string | undefined>
  /** Replaces the whole file or leaves the old one: atomic, on disk when it resolves, readable by the user alone. */
  write(name: string, text: string): Promise<void>
  /** Adds to the end; creates the file, readable by the user alone. */
  append(name: string, content: string | Uint8Array): Promise<void>
  /** So many bytes from one on, or as many as there are; none when there is no such file. */
  readPart(name: string, from: number, most: number): Promise<Buffer>
  /** The files in a folder, and their sizes in bytes; none when there is no such folder. */
  list(folder: string): Promise<readonly { name: string; size: number }[]>
  delete(name: string): Promise<void>
}
