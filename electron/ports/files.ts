/** What Berth keeps on disk, below BERTH_HOME. Names are relative, with forward slashes. */
export interface Files {
  /** The absolute path of a name, for those who must hand it to another program. */
  path(name: string): string
  /** The text, or undefined when there is no such file. */
  read(name: string): Promise<string | undefined>
  /** Replaces the whole file or leaves the old one: atomic, on disk when it resolves, readable by the user alone. */
  write(name: string, text: string): Promise<void>
  /** Adds to the end; creates the file, readable by the user alone. */
  append(name: string, text: string): Promise<void>
  delete(name: string): Promise<void>
}
