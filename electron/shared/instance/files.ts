import * as v from 'valibot'
import { count } from '../format/size.ts'
import { BerthError, type Problem } from '../problem.ts'
import { checkedName } from './file-names.ts'

/** The longest path that Berth requests, in characters. */
const longestPath = 4096
/** The most files in one upload from the page. */
const mostFiles = 20_000
/** Files that a page may list to find out which are sent. */
export const mostListed = 50_000

/** A path on an instance, never on this machine: from `/`, without NUL. The user may choose any. */
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

/** A file in the page, with the names of the path from the chosen folder to it. */
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

/** The user's choice in a dialog of the main process. The page only has this id. */
export const ChoiceId = v.pipe(v.string(), v.regex(/^c[0-9a-f]{32}$/, 'not a choice'))
export const FileTransferId = v.pipe(v.string(), v.regex(/^f[0-9a-f]{16}$/, 'not a file transfer'))

export type RemoteKind = 'file' | 'folder' | 'link' | 'other'

/** An entry of a folder. Its name may hold anything but `/` and NUL: show it with `harmless` of file-names.ts. */
export interface RemoteEntry {
  name: string
  kind: RemoteKind
  /** Bytes; of a link, those of its target. */
  size: number
  /** Epoch seconds of the instance's clock. */
  modified: number
  /** The nine bits of permission. */
  mode: number
  /** A link's target, and the kind of that. */
  link?: { to: string; kind: RemoteKind | 'nothing' }
}

export interface RemoteFolder {
  /** Resolved: without links, `.` and `..`. */
  path: string
  entries: readonly RemoteEntry[]
  /** Whether there are more entries than Berth lists. */
  more: boolean
  /** Entries that are not listed, since no file can have such a long name. */
  unnamed?: number
}

/** Whether a name was not UTF-8 and reached Berth with replacement marks, so that the file cannot be addressed. */
export function isUnreadable(name: string): boolean {
  return name.includes('\ufffd')
}

/** Identifies the content that was read, to notice changes of the file. */
export const FileVersion = v.strictObject({
  size: v.pipe(v.number(), v.safeInteger()),
  modified: v.pipe(v.number(), v.finite()),
})
export type FileVersion = v.InferOutput<typeof FileVersion>

/** Bytes of the largest file that opens as text. */
export const largestText = 1024 * 1024

/** `waiting`: the connection was lost, and the transfer continues automatically once it is back. */
export type FileStep = 'preparing' | 'running' | 'waiting' | 'paused' | 'done' | 'failed' | 'cancelled'

/** Files on their way between this machine and an instance. Times in epoch milliseconds of this machine. */
export interface FileTransferView {
  id: string
  instance: number
  direction: 'up' | 'down'
  /** The name of the file or folder, or `3 items`. */
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
  /** Whether it can continue after a pause or a failure. */
  resumable: boolean
  /** The number of skipped entries: links to folders, sockets, and names that cannot be written here. */
  leftOut: number
  problem?: Problem
  startedAt: number
  endedAt?: number
}

/** Whether it ended: only the user can resume it. */
export function isFileTransferOver({ step }: Pick<FileTransferView, 'step'>): boolean {
  return step === 'done' || step === 'failed' || step === 'cancelled'
}

/** The seconds left at the present speed; undefined if that is not known. */
export function secondsLeft({ total, done, speed, step }: FileTransferView): number | undefined {
  return step !== 'running' || speed === undefined || speed <= 0 ? undefined : (total - done) / speed
}

/**
 * The protocol of an upload's stream, by which the main process reads files that the page holds. It requests a piece
 * in 20 bytes: number of the request, index of the file (4 bytes each), offset (8, a float), length (4). The page
 * answers with the request's number and the length (4 bytes each), then the bytes; the length `unreadable` means that
 * the file cannot be read any more. All big-endian.
 */
export const requestLength = 20
export const answerHead = 8
export const unreadable = 0xffff_ffff

export interface PieceRequest {
  request: number
  file: number
  offset: number
  length: number
}

export function encodeRequest({ request, file, offset, length }: PieceRequest): Uint8Array {
  const bytes = new Uint8Array(requestLength)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, request)
  view.setUint32(4, file)
  view.setFloat64(8, offset)
  view.setUint32(16, length)
  return bytes
}

export function decodeRequest(bytes: Uint8Array): PieceRequest {
  const view = new DataView(bytes.buffer, bytes.byteOffset, requestLength)
  return {
    request: view.getUint32(0),
    file: view.getUint32(4),
    offset: view.getFloat64(8),
    length: view.getUint32(16),
  }
}

export function encodeAnswerHead(request: number, length: number): Uint8Array {
  const bytes = new Uint8Array(answerHead)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, request)
  view.setUint32(4, length)
  return bytes
}

/** Limits for one move or deletion: a hostile server can invent folders without end. */
export const treeBounds = {
  /** Files, folders and all others. */
  entries: 200_000,
  /** Folders within folders. */
  depth: 64,
  /** Characters of all their paths. */
  characters: 64 * 1024 * 1024,
}

/** Counts the entries of a tree before anything is done. Throws `too_many_files` or `too_deep`. */
export function countTree(doing: string, bounds = treeBounds): (path: string, depth: number) => void {
  let entries = 0
  let characters = 0
  return (path, depth) => {
    if (depth > bounds.depth)
      throw new BerthError({
        code: 'too_deep',
        message: `Nothing was ${doing}: folders there lie within each other more than ${bounds.depth} deep.`,
        advice: 'Choose a folder further inside, or use the terminal.',
      })
    entries += 1
    characters += path.length
    if (entries > bounds.entries || characters > bounds.characters)
      throw new BerthError({
        code: 'too_many_files',
        message: `Nothing was ${doing}: there are more than ${count(
          Math.min(entries - 1, bounds.entries),
        )} files and folders, or their names are too long.`,
        advice: 'Choose fewer folders at a time, or use the terminal.',
      })
  }
}
