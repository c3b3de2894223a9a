/** The file by which a shell finds the command `berth`. */
export interface CommandFile {
  /** Where it lies, as people read it. */
  path: string
  /** Whether it is there and Berth's. */
  isThere(): Promise<boolean>
  /** Writes it, or writes it anew. Rejects with `command_taken` where a file of somebody else's is, or `command_not_written`. */
  write(): Promise<void>
  /** Takes it away if it is Berth's. */
  remove(): Promise<void>
}
