import { named } from '../format/name.ts'

/** Why a sync skips an entry of a folder, other than by an ignore file. */
export type SkipReason =
  /** A link to a target outside of the folder. */
  | 'link_out'
  /** A link on an instance to something that is downloaded under its own name. */
  | 'link'
  /** A link on an instance that is not followed: it leads nowhere, to a folder of the system or to one around it. */
  | 'dangling'
  /** A socket, a pipe or a device. */
  | 'special'
  /** It cannot be read. */
  | 'unreadable'
  /** The other side cannot store its name unchanged, or the name clashes with another one: see `rule`. */
  | 'name'
  /** A git repository on an instance: git here would run programs from its configuration. */
  | 'repository'
  /** Its name here is no Unicode text, such as one from an old archive. */
  | 'not_unicode'
  /** It was changed or deleted while it was read. */
  | 'changed'
  /** A file or a link is here in place of its folder, and Berth never writes through a link. */
  | 'in_the_way'

/** `path` is relative to the folder, with `/` between names. */
export interface Skipped {
  path: string
  why: SkipReason
  /** The fault of the name, as a clause: `its name is too long`. */
  rule?: string
}

/**
 * A file that looks like a secret. `holds`: the secret in its text, such as `a private key`; else only its name looks
 * like one.
 */
export interface LikelySecret {
  path: string
  holds?: string
}

/** Some of the files in chosen folders: `files` and `bytes` without the secrets among them. */
export interface UploadPart {
  files: number
  bytes: number
  secrets: readonly LikelySecret[]
}

/** The files of chosen folders that would be uploaded; `ignored`: those excluded by ignore rules. */
export interface UploadPlan extends UploadPart {
  ignored: UploadPart
  /** Ignore files that are links. Their rules are not applied, as in git. */
  linkedRules: readonly string[]
}

/** The part of a folder that would be sent to a new machine. */
export interface FolderScan {
  files: number
  /** Bytes of those files. */
  bytes: number
  /** Files that look like secrets: only confirmed ones are sent. They are not counted in `files`. */
  secrets: readonly LikelySecret[]
  skipped: readonly Skipped[]
  /** Files and folders that ignore files exclude; the content of such a folder is not counted. */
  ignored: number
  /** Downloaded results that were not changed here since, which are not sent. */
  results: number
  /** Ignore files that are links. Their rules are not applied, as in git. */
  linkedRules: readonly string[]
}

/** The progress of a sync. `total` and `done` in bytes of the files that are moved. */
export interface SyncProgress {
  total: number
  done: number
  files: number
  filesDone: number
  /** Bytes per second over the last few seconds, and the seconds left at that speed. */
  speed?: number
  secondsLeft?: number
}

/** The result of a sync. */
export interface SyncResult {
  files: number
  bytes: number
  /** Files that were the same on both sides. */
  unchanged: number
  skipped: readonly Skipped[]
}

/** The result of a download. */
export interface Downloaded extends SyncResult {
  /** Files that were changed here too: the downloaded version is next to them, under the name `as`. */
  beside: readonly { path: string; as: string }[]
  /** Requested paths that do not exist, or hold no file with content. */
  missing: readonly string[]
  /** Files that were changed while they were downloaded, or shortly before, so that they may be incomplete. */
  unsettled: readonly string[]
}

/** Why an entry of a folder is skipped, in words for page and command line. */
export const skipWords: Record<SkipReason, string> = {
  link_out: 'a link out of the folder',
  link: 'a link',
  dangling: 'a broken link',
  special: 'not a file',
  unreadable: 'can’t be read',
  name: 'the other side can’t store its name',
  repository: 'a git repository',
  not_unicode: 'its name isn’t valid Unicode: rename it to send it',
  changed: 'changed or deleted while it was read',
  in_the_way: 'something else has its place',
}

/** A sentence on ignore files that are links. */
export function linkedRulesWords(paths: readonly string[]): string {
  return paths.length === 1
    ? `${named(paths)} is a link, so its rules aren’t applied, as in git.`
    : `${named(paths)} are links, so their rules aren’t applied, as in git.`
}

/** `.env`, or `notes.txt (holds a private key)`. */
export function secretWords({ path, holds }: LikelySecret): string {
  return holds === undefined ? path : `${path} (holds ${holds})`
}
