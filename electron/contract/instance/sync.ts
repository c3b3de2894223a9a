/** Why something in a folder is not sent or brought home though nobody asked for that. */
export type SkipReason =
  /** A link that leads out of the folder. */
  | 'link_out'
  /** A link on an instance: none is brought home. */
  | 'link'
  /** A socket, a pipe or a device. */
  | 'special'
  /** It cannot be read. */
  | 'unreadable'
  /** Its name is none that the other side takes as it is, or it clashes with another one. */
  | 'name'
  /** It was changed or went while it was read. */
  | 'changed'
  /** What would be its folder is a file or a link here, and nothing is written through a link. */
  | 'in_the_way'

/** Paths are below the folder, their names joined by `/`. */
export interface Skipped {
  path: string
  why: SkipReason
}

/** What of a folder would be sent, all of it new. */
export interface FolderScan {
  files: number
  /** Bytes of those files. */
  bytes: number
  /** Files that look as if they hold secrets: only confirmed ones are sent. They are not among `files`. */
  secrets: readonly string[]
  skipped: readonly Skipped[]
  /** Files and folders that ignore files leave out; what is in such a folder is not counted. */
  ignored: number
}

/** How far a sync is. Bytes are those of the files that are moved. */
export interface SyncProgress {
  total: number
  done: number
  files: number
  filesDone: number
  /** Bytes per second over the last few seconds, and the seconds left at that speed. */
  speed?: number
  secondsLeft?: number
}

/** What a sync has moved. */
export interface SyncResult {
  files: number
  bytes: number
  /** Files that were the same on both sides. */
  unchanged: number
  skipped: readonly Skipped[]
}

/** What was brought home. */
export interface BroughtHome extends SyncResult {
  /** Files that were changed here, too: what came lies beside them under the other name. */
  beside: readonly { path: string; as: string }[]
  /** Of what was asked for, the paths at which nothing is. */
  missing: readonly string[]
}
