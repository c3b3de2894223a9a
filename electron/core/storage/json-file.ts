import * as v from 'valibot'
import type { Clock } from '../../ports/clock.ts'
import type { Files } from '../../ports/files.ts'

/** Something Berth must remember: one JSON file, checked when read, replaced whole when written. */
export interface Document<Content> {
  get(): Content
  /** Changes it, and resolves when the change is on disk. Where it cannot be written it rejects, and nothing has changed. */
  write(change: (content: Content) => Content): Promise<void>
  /** Changes it, and lets it reach the disk within a second, or as soon as it can be written. */
  writeSoon(change: (content: Content) => Content): void
  /** For what has happened already: changes it whether it can be written or not, and resolves once that was tried. */
  record(change: (content: Content) => Content): Promise<void>
  /** Resolves when nothing waits to be written, or what waits could not be. Never rejects. */
  flush(): Promise<void>
}

/** Milliseconds after which what could not be written is tried again. */
const tryAgainAfter = 10_000

export interface DocumentOptions<Schema extends v.GenericSchema> {
  files: Files
  clock: Clock
  name: string
  schema: Schema
  empty: v.InferOutput<Schema>
  /** A file that cannot be read as it should be is set aside, and this is told its name. */
  onBroken: (setAside: string) => void
}

export async function openDocument<Schema extends v.GenericSchema>(
  options: DocumentOptions<Schema>,
): Promise<Document<v.InferOutput<Schema>>> {
  type Content = v.InferOutput<Schema>
  type Change = (content: Content) => Content
  const { files, clock, name } = options
  let content: Content = await readContent(options)
  let written: Content = content
  let writing: Promise<void> = Promise.resolve()
  let cancelSoon: (() => void) | undefined
  /** Changes that may still be refused, what came after them, and what there was before. */
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

  /** What cannot be written with `refused` in it loses that before anything else is written. */
  function save(refused?: Change): Promise<void> {
    cancelSoon?.()
    cancelSoon = undefined
    // A write that failed was told to whoever asked for it; the next one goes on regardless.
    writing = writing
      .catch(() => undefined)
      .then(async () => {
        const saved = content
        try {
          await files.write(name, `${JSON.stringify(saved, undefined, 1)}\n`)
        } catch (error) {
          if (refused) takeBack(refused)
          throw error
        }
        written = saved
      })
    return writing
  }

  function saveAfter(milliseconds: number): void {
    cancelSoon ??= clock.after(milliseconds, () => void save().catch(() => saveAfter(tryAgainAfter)))
  }

  return {
    get: () => content,
    async write(change) {
      if (refusable === 0) {
        before = content
        since = []
      }
      refusable += 1
      // One function may be given twice.
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

async function readContent<Schema extends v.GenericSchema>({
  files,
  name,
  schema,
  empty,
  onBroken,
}: DocumentOptions<Schema>): Promise<v.InferOutput<Schema>> {
  const text = await files.read(name)
  if (text === undefined) return empty
  const parsed = parse(text)
  const checked = v.safeParse(schema, parsed)
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
