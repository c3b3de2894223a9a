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
