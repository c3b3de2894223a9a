import * as v from 'valibot'
import type { Problem } from '../problem.ts'
import { checkedName } from './file-names.ts'

/** The longest path that is asked for, in characters. */
const longestPath = 4096
/** Files in one upload from the page. */
const mostFiles = 20_000

/** A path on an instance: from `/`, without NUL. Which one is the user's choice; it is never one of this machine. */
export const RemotePath = v.pipe(
  v.string('a path is text'),
  v.maxLength(longestPath, `at most ${longestPath} characters`),
  v.check(path => path.startsWith('/') && !path.includes('\0'), 'a path begins with /'),
)

/** One name in a path: neither `.` nor `..`, without `/` and NUL. */
const Name = v.pipe(
  v.string('a name is text'),
  v.check(name => checkedName(name) !== undefined, 'not a name of a file'),
)

/** A file that the page holds, by the names that lead to it from what was chosen. */
const PageFile = v.strictObject({
  path: v.pipe(v.array(Name), v.minLength(1), v.maxLength(64)),
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Epoch milliseconds. */
  modified: v.pipe(v.number(), v.finite()),
})
export const PageFiles = v.pipe(
  v.array(PageFile),
  v.maxLength(mostFiles, `at most ${mostFiles} files at once`),
)
export type PageFile = v.InferOutput<typeof PageFile>
export const PageFolders = v.pipe(
  v.array(v.pipe(v.array(Name), v.minLength(1), v.maxLength(64))),
  v.maxLength(mostFiles, `at most ${mostFiles} folders at once`),
)

/** What the user chose in a dialog of the main process: the page knows it by this alone. */
export const ChoiceId = v.pipe(v.string(), v.regex(/^c[0-9a-f]{32}$/, 'not a choice'))
export const FileTransferId = v.pipe(v.string(), v.regex(/^f[0-9a-f]{16}$/, 'not a file transfer'))

export type RemoteKind = 'file' | 'folder' | 'link' | 'other'

/** What lies in a folder of an instance. Its name may hold anything but `/` and NUL: show it with `harmless` of file-names.ts. */
export interface RemoteEntry {
  name: string
  kind: RemoteKind
  /** Bytes; of a link, those of what it leads to. */
  size: number
  /** Epoch seconds of the instance's clock. */
  modified: number
  /** The nine bits of permission. */
  mode: number
  /** Where a link leads, and to what. */
  link?: { to: string; kind: RemoteKind | 'nothing' }
}

export interface RemoteFolder {
  /** Without links, `.` and `..`. */
  path: string
  entries: readonly RemoteEntry[]
  /** Whether there are more than Berth lists. */
  more: boolean
  /** Entries that are not listed since their names are longer than a file's can be. */
  unnamed?: number
}

/** The name of an entry that is not UTF-8 reached Berth with marks in place of its bytes: nothing can be done with it. */
export function isUnreadable(name: string): boolean {
  return name.includes('\ufffd')
}

/** Tells whether a file is still the one that was read. */
export const FileVersion = v.strictObject({
  size: v.pipe(v.number(), v.safeInteger()),
  modified: v.pipe(v.number(), v.finite()),
})
export type FileVersion = v.InferOutput<typeof FileVersion>

/** Bytes of the largest file that opens as text. */
export const largestText = 1024 * 1024

/** `waiting`: the connection was lost, and it goes on by itself once that is back. */
export type FileStep = 'preparing' | 'running' | 'waiting' | 'paused' | 'done' | 'failed' | 'cancelled'

/** Files on their way between this machine and an instance. Times in epoch milliseconds of this machine. */
export interface FileTransferView {
  id: string
  instance: number
  direction: 'up' | 'down'
  /** What is moved: the name of the file or folder, or `3 items`. */
  name: string
  /** The folder on the instance. */
  folder: string
  step: FileStep
  /** Bytes. */
  total: number
  done: number
  files: number
  filesDone: number
  /** Bytes per second over the last few seconds. */
  speed?: number
  /** Whether it can go on after a pause or a failure. */
  resumable: boolean
  /** Links to folders, sockets and names that cannot be written here: left out. */
  leftOut: number
  problem?: Problem
  startedAt: number
  endedAt?: number
}

/** Whether nothing more will come of it unless the user says so. */
export function isFileTransferOver({ step }: Pick<FileTransferView, 'step'>): boolean {
  return step === 'done' || step === 'failed' || step === 'cancelled'
}

/** Seconds that are left at its speed; undefined where that says nothing. */
export function secondsLeft({ total, done, speed, step }: FileTransferView): number | undefined {
  return step !== 'running' || speed === undefined || speed <= 0 ? undefined : (total - done) / speed
}
