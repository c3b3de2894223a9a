import { hash } from 'node:crypto'
import { basename } from 'node:path/posix'
import type * as v from 'valibot'
import type { Clock, Files } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import { withoutByteOrderMark } from '#shared/text.ts'
import { instancesIn, mended } from './mend.ts'

/** A JSON file that is validated when read and replaced as a whole when written. */
export interface Document<Content> {
  get(): Content
  /** Changes it and resolves once that is on disk. Rejects where it cannot be written, and then nothing has changed. */
  write(change: (content: Content) => Content): Promise<void>
  /** Changes it, and writes it within a second, or as soon as that succeeds. */
  writeSoon(change: (content: Content) => Content): void
  /** For events that have happened already: changes it even if it cannot be written, and resolves after the first attempt. */
  record(change: (content: Content) => Content): Promise<void>
  /** Resolves once pending changes were written or failed. Never rejects. */
  flush(): Promise<void>
}

/** Milliseconds before a failed write is retried. */
const tryAgainAfter = 10_000

/** Where JSON files are. */
export interface DocumentPlace {
  files: Files
  platform: { clock: Clock }
  /** The folder of an account in `files`; absent for those of all accounts. */
  folder?: string
  /** Called where something in a file cannot be read. */
  onBroken: (broken: BrokenFile) => void
}

/** A file of which something could not be read, or which could not be read at all. */
export interface BrokenFile {
  /** What it is called, without folder and `.json`, and the file's own name. */
  name: string
  file: string
  /** Why, after `it`, such as `is damaged`. */
  why: string
  /** The name of its copy; absent where it could not be made yet. */
  setAside: string | undefined
  /** How many of its records are gone; absent where all of it is. */
  lost?: number
  /** The instances that the unreadable parts name. */
  instances: readonly number[]
  /** It was noticed before it was written, and all else of the record is. */
  isAtWrite?: true
}

/** What was read of a file's content. `lost`: unreadable records; `changed`: those that were read in part. */
export interface ReadContent<Content> {
  content: Content
  lost: readonly unknown[]
  changed: readonly unknown[]
}

/** Reads a file's content as far as that is possible; undefined where nothing of it is readable. */
export type ReadWhole<Content> = (value: unknown) => ReadContent<Content> | undefined

/** Opens the file of a name, without `.json`. What is unreadable in it is left out, and kept in a copy beside it. */
export function openDocument<Schema extends v.GenericSchema>(
  place: DocumentPlace,
  shortName: string,
  schema: Schema,
  empty: v.InferOutput<Schema>,
): Promise<Document<v.InferOutput<Schema>>> {
  return openFile(place, shortName, {
    empty,
    text: content => JSON.stringify(content, undefined, 1),
    read(value) {
      const found = mended(schema, value)
      if (!found) return undefined
      return { content: found.content, lost: [], changed: found.lacking.map(path => damagedIn(value, path)) }
    },
  })
}

/** The field, entry or item of the whole that something unreadable is in. */
function damagedIn(value: unknown, path: string): unknown {
  const [key = ''] = path.split('.')
  return typeof value === 'object' && value !== null ? { [key]: Reflect.get(value, key) } : value
}

/** The same for content that is read and written in its own way. */
export async function openFile<Content>(
  place: DocumentPlace,
  shortName: string,
  { empty, text, read }: { empty: Content; text(content: Content): string; read: ReadWhole<Content> },
): Promise<Document<Content>> {
  type Change = (content: Content) => Content
  const { files, platform, folder } = place
  const name = `${folder === undefined ? '' : `${folder}/`}${shortName}.json`
  const found = await readContent(place, name, read)
  /** The unreadable text of the file, while its copy could not be written. */
  let uncopied = found.uncopied
  let content: Content = found.content ?? empty
  let written: Content = content
  /** The digest of the text that was last written, unless it is unknown whether it was. */
  let onDisk: string | undefined
  let writing: Promise<void> = Promise.resolve()
  let cancelSoon: (() => void) | undefined
  /** To take back failed writes: the content before the first pending one, later changes, and the number pending. */
  let before: Content = content
  let since: Change[] = []
  let refusable = 0

  function apply(change: Change): void {
    content = change(content)
    if (refusable > 0) since.push(change)
  }

  function takeBack(change: Change): void {
    since = since.filter(other => other !== change)
    content = since.reduce((rest, each) => each(rest), before)
  }

  /** Writes the content. If that fails, `refused` is taken back before the next write. */
  function save(refused?: Change): Promise<void> {
    cancelSoon?.()
    cancelSoon = undefined
    // The failure was reported to its caller; the next write happens regardless.
    writing = writing
      .catch(() => undefined)
      .then(async () => {
        const saved = content
        try {
          if (uncopied) await files.write(uncopied.setAside, uncopied.text)
          uncopied = undefined
          const now = `${text(saved)}\n`
          const digest = hash('sha256', now)
          // What came while another change was waiting is on disk with it.
          if (digest !== onDisk) await files.write(name, now)
          onDisk = digest
        } catch (error) {
          onDisk = undefined
          if (refused) takeBack(refused)
          throw error
        }
        written = saved
      })
    return writing
  }

  function saveAfter(milliseconds: number): void {
    cancelSoon ??= platform.clock.after(milliseconds, () => void save().catch(() => saveAfter(tryAgainAfter)))
  }

  if (found.isBroken) void save().catch(() => saveAfter(tryAgainAfter))

  return {
    get: () => content,
    async write(change) {
      if (refusable === 0) {
        before = content
        since = []
      }
      refusable += 1
      // A distinct function, since the caller may pass the same one twice.
      const own: Change = rest => change(rest)
      try {
        apply(own)
        await save(own)
      } finally {
        refusable -= 1
      }
    },
    writeSoon(change) {
      apply(change)
      saveAfter(1000)
    },
    async record(change) {
      apply(change)
      await save().catch(() => saveAfter(tryAgainAfter))
    },
    async flush() {
      cancelSoon?.()
      cancelSoon = undefined
      await (content === written ? writing : save()).catch(() => undefined)
    },
  }
}

/** A file's readable content, without opening it as a document; undefined where it is missing or nothing is readable. */
export async function readDocument<Schema extends v.GenericSchema>(
  files: Files,
  name: string,
  schema: Schema,
): Promise<v.InferOutput<Schema> | undefined> {
  return mended(schema, parse((await files.read(name).catch(() => undefined)) ?? ''))?.content
}

interface Found<Content> {
  content?: Content | undefined
  isBroken?: boolean
  /** The file's text, whose copy could not be written yet. */
  uncopied?: { setAside: string; text: string } | undefined
}

async function readContent<Content>(
  { files, folder, onBroken }: DocumentPlace,
  name: string,
  read: ReadWhole<Content>,
): Promise<Found<Content>> {
  const shortName = name.slice(folder === undefined ? 0 : folder.length + 1, -'.json'.length)
  const text = await readText({ files, onBroken }, name, shortName)
  if (text === undefined) return {}
  const whole = parse(text)
  const value = whole ?? wholeItems(text)
  const found = value === undefined ? undefined : read(value)
  if (whole !== undefined && found?.lost.length === 0 && found.changed.length === 0)
    return { content: found.content }
  const setAside = await copyName(files, name, text)
  const isCopied = await files.write(setAside, text).then(
    () => true,
    () => false,
  )
  onBroken({
    name: shortName,
    file: basename(name),
    why: text.trim() === '' ? 'is empty' : whole ? 'has unreadable records' : 'is damaged',
    setAside: isCopied ? setAside : undefined,
    lost: found?.lost.length,
    instances: instancesIn(found ? [...found.lost, ...found.changed] : text),
  })
  // The next write replaces it. Where that fails for the copy, it fails for the file.
  return { content: found?.content, isBroken: true, uncopied: isCopied ? undefined : { setAside, text } }
}

/**
 * A file's text; undefined where there is none. What is in its place and cannot be read, such as a folder, is moved aside and
 * reported. Rejects for a passing failure, as where too many files are open.
 */
export async function readText(
  { files, onBroken }: Pick<DocumentPlace, 'files' | 'onBroken'>,
  name: string,
  shortName: string,
): Promise<string | undefined> {
  try {
    return await files.read(name)
  } catch (error) {
    const why = obstacles[codeOf(error)]
    if (why === undefined) throw error
    onBroken({
      name: shortName,
      file: basename(name),
      why,
      setAside: await movedAside(files, name),
      instances: [],
    })
    return undefined
  }
}

/** Why something in a file's place cannot be read, by its error's code. It is moved out of the way. */
const obstacles: Readonly<Record<string, string>> = {
  not_a_file: 'is a folder, a pipe or a device, and no file',
  too_long: 'is too long to be one of Berth’s',
  EACCES: 'may not be read by Berth',
  EPERM: 'may not be read by Berth',
  EISDIR: 'is a folder, and no file',
  ENXIO: 'is a socket, and no file',
  ELOOP: 'is a link that leads to itself',
  EIO: 'couldn’t be read from the disk',
}

/** The most copies of one file beside it. */
const mostCopies = 20

function copyNames(name: string): string[] {
  return Array.from({ length: mostCopies }, (_, at) => `${name}.broken${at === 0 ? '' : `-${at + 1}`}`)
}

/** A name for a copy: the first that no other one has. */
async function copyName(files: Files, name: string, text: string): Promise<string> {
  const names = copyNames(name)
  for (const copy of names) {
    const there = await files.read(copy).catch(() => '')
    if (there === undefined || there === text) return copy
  }
  return names.at(-1) ?? name
}

/** Moves what is in a file's place aside; undefined where that fails, and then writing the file fails, too, and is reported. */
async function movedAside(files: Files, name: string): Promise<string | undefined> {
  for (const copy of copyNames(name)) {
    try {
      await files.move(name, copy)
      return copy
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') return undefined
    }
  }
  return undefined
}

function codeOf(error: unknown): string {
  if (error instanceof BerthError) return codeOf(error.cause)
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function parse(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text))
  } catch {
    return undefined
  }
}

/**
 * The items of a list whose end is missing: each begins and ends on lines of its own, as a collection writes it. One that
 * is not whole is its text. Undefined where none is whole.
 */
function wholeItems(text: string): unknown[] | undefined {
  if (!text.startsWith('[\n')) return undefined
  const items = text.slice(2).split(/,\n(?= \S)/)
  const read = items.map(item => parse(withoutComma(item.trimEnd())) ?? item)
  return read.some(item => typeof item === 'object') ? read : undefined
}

function withoutComma(item: string): string {
  return item.endsWith(',') ? item.slice(0, -1) : item
}

/** Reasons for the user why a file cannot be written. */
const reasons: Readonly<Record<string, { why: string; advice: string }>> = {
  ENOSPC: { why: 'the disk is full', advice: 'Free some space; Berth tries again.' },
  EDQUOT: {
    why: 'your disk quota is used up',
    advice: 'Free some space; Berth tries again.',
  },
  EROFS: {
    why: 'the disk is read-only',
    advice: 'Make it writable, or move Berth’s folder with BERTH_HOME.',
  },
  EACCES: {
    why: 'Berth has no write permission there',
    advice: 'Give yourself write permission for that folder.',
  },
  EPERM: {
    why: 'Berth has no write permission there',
    advice: 'Give yourself write permission for that folder.',
  },
}

/**
 * The same files, whose failed writes reject with a BerthError `not_written`. `heard` is called for the first failure,
 * and again only after a write has succeeded.
 */
export function watchedFiles(files: Files, heard: (failure: BerthError) => void): Files {
  let failing = false

  async function attempt(name: string, effect: () => Promise<void>): Promise<void> {
    try {
      await effect()
      failing = false
    } catch (error) {
      const failure = notWritten(name, error)
      if (!failing) {
        failing = true
        heard(failure)
      }
      throw failure
    }
  }

  return {
    path: name => files.path(name),
    read: name => files.read(name).catch(error => Promise.reject(notRead(name, error))),
    write: (name, text) => attempt(name, () => files.write(name, text)),
    append: (name, content) => attempt(name, () => files.append(name, content)),
    readPart: (name, from, most) =>
      files.readPart(name, from, most).catch(error => Promise.reject(notRead(name, error))),
    list: folder => files.list(folder),
    move: (name, to) => files.move(name, to),
    delete: name => attempt(name, () => files.delete(name)),
  }
}

function notRead(name: string, error: unknown): BerthError {
  const why = obstacles[codeOf(error)] ?? 'couldn’t be read'
  const problem = {
    code: 'not_read',
    message: `${name} ${why}.`,
    advice: 'Check the folder with Berth’s files.',
  }
  return Object.assign(new BerthError(problem), { cause: error })
}

function notWritten(name: string, error: unknown): BerthError {
  const code = codeOf(error)
  const { why, advice } = reasons[code] ?? {
    why: code || 'the system refused',
    advice: 'Check the disk with Berth’s folder.',
  }
  return new BerthError({ code: 'not_written', message: `${name} couldn’t be saved: ${why}.`, advice })
}
