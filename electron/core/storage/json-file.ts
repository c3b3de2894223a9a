import * as v from 'valibot'
import { BerthError } from '#contract/problem.ts'
import type { Clock, Files } from '#machine/machine.ts'

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
  machine: { clock: Clock }
  /** The folder of an account in `files`; absent for those of all accounts. */
  folder?: string
  /** Called with the new name of an invalid file, which is set aside. */
  onBroken: (setAside: string) => void
}

/**
 * Opens the file of a name, without `.json`. `text` gives the content as JSON; all that is in it by default.
 */
export async function openDocument<Schema extends v.GenericSchema>(
  place: DocumentPlace,
  shortName: string,
  schema: Schema,
  empty: v.InferOutput<Schema>,
  text: (content: v.InferOutput<Schema>) => string = content => JSON.stringify(content, undefined, 1),
): Promise<Document<v.InferOutput<Schema>>> {
  type Content = v.InferOutput<Schema>
  type Change = (content: Content) => Content
  const { files, machine, folder } = place
  const name = `${folder === undefined ? '' : `${folder}/`}${shortName}.json`
  let content: Content = await readContent(place, name, schema, empty)
  let written: Content = content
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
          await files.write(name, `${text(saved)}\n`)
        } catch (error) {
          if (refused) takeBack(refused)
          throw error
        }
        written = saved
      })
    return writing
  }

  function saveAfter(milliseconds: number): void {
    cancelSoon ??= machine.clock.after(milliseconds, () => void save().catch(() => saveAfter(tryAgainAfter)))
  }

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

/** A file's content, without opening it as a document; undefined where it is missing, unreadable or invalid. */
export async function readDocument<Schema extends v.GenericSchema>(
  files: Files,
  name: string,
  schema: Schema,
): Promise<v.InferOutput<Schema> | undefined> {
  const checked = v.safeParse(schema, parse((await files.read(name).catch(() => undefined)) ?? ''))
  return checked.success ? checked.output : undefined
}

async function readContent<Schema extends v.GenericSchema>(
  { files, onBroken }: DocumentPlace,
  name: string,
  schema: Schema,
  empty: v.InferOutput<Schema>,
): Promise<v.InferOutput<Schema>> {
  const text = await files.read(name)
  if (text === undefined) return empty
  const checked = v.safeParse(schema, parse(text))
  if (checked.success) return checked.output
  const setAside = `${name}.broken`
  await files.write(setAside, text)
  onBroken(setAside)
  return empty
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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
    read: name => files.read(name),
    write: (name, text) => attempt(name, () => files.write(name, text)),
    append: (name, content) => attempt(name, () => files.append(name, content)),
    readPart: (name, from, most) => files.readPart(name, from, most),
    list: folder => files.list(folder),
    delete: name => attempt(name, () => files.delete(name)),
  }
}

function notWritten(name: string, error: unknown): BerthError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const { why, advice } = reasons[code] ?? {
    why: code || 'the system refused',
    advice: 'Check the disk with Berth’s folder.',
  }
  return new BerthError({ code: 'not_written', message: `${name} couldn’t be saved: ${why}.`, advice })
}
