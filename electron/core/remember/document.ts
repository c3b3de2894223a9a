import * as v from 'valibot'
import type { Clock } from '../../ports/clock.ts'
import type { Files } from '../../ports/files.ts'

/** Something Berth must remember: one JSON file, checked when read, replaced whole when written. */
export interface Document<Content> {
  get(): Content
  /** Changes it, and resolves when the change is on disk. */
  write(change: (content: Content) => Content): Promise<void>
  /** Changes it, and lets it reach the disk within a second. */
  writeSoon(change: (content: Content) => Content): void
  /** Resolves when nothing waits to be written. */
  flush(): Promise<void>
}

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
  const { files, clock, name } = options
  let content: Content = await readContent(options)
  let writing: Promise<void> = Promise.resolve()
  let cancelSoon: (() => void) | undefined

  function save(): Promise<void> {
    cancelSoon?.()
    cancelSoon = undefined
    // A write that failed was told to whoever asked for it; the next one goes on regardless.
    writing = writing
      .catch(() => undefined)
      .then(() => files.write(name, `${JSON.stringify(content, undefined, 1)}\n`))
    return writing
  }

  return {
    get: () => content,
    write(change) {
      content = change(content)
      return save()
    },
    writeSoon(change) {
      content = change(content)
      cancelSoon ??= clock.after(1000, () => void save().catch(() => undefined))
    },
    flush: () => (cancelSoon ? save() : writing),
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
