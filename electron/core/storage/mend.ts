import * as v from 'valibot'

/** Stored data as far as it can be read. */
export interface Mended<Content> {
  content: Content
  /** The parts that could not be read, by their paths such as `3.printed.loss`. */
  lacking: readonly string[]
}

/** Values for required parts that cannot be read, by their paths, with `*` for any place in a list. */
export type Instead = Readonly<Record<string, unknown>>

/** The most times that what is unreadable is left out, and the rest is read again. */
const mostRounds = 50

/**
 * Reads a value without its unreadable parts: optional fields, entries, items of lists, and required fields with a value
 * `instead`. A number or a text that only breaks a bound is read as it is. Undefined where nothing is left.
 */
export function mended<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  instead: Instead = {},
): Mended<v.InferOutput<Schema>> | undefined {
  const lacking = new Set<string>()
  let rest = value
  for (let round = 0; round < mostRounds; round += 1) {
    const read = v.safeParse(schema, rest)
    if (read.typed) return { content: read.output, lacking: [...lacking] }
    if (round === 0) rest = structuredClone(value)
    const paths = read.issues.map(issue => (issue.path ?? []).map(({ key }) => key))
    for (const path of lastFirst(paths.map(path => toLeaveOut(rest, path, instead)))) {
      if (path.length === 0) return undefined
      lacking.add(path.join('.'))
      leaveOut(rest, path, instead)
    }
  }
  return undefined
}

type Path = readonly unknown[]
type Fields = Record<string, unknown>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function partAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => (isFields(part) ? part[String(key)] : undefined), value)
}

function valueInstead(path: Path, instead: Instead): unknown {
  return instead[path.map(key => (typeof key === 'number' ? '*' : key)).join('.')]
}

/** The smallest part at a path or around it that can be left out: where a required field is missing, its object goes. */
function toLeaveOut(value: unknown, path: Path, instead: Instead): Path {
  const around = partAt(value, path.slice(0, -1))
  const isThere = isFields(around) && Object.hasOwn(around, String(path.at(-1)))
  const hasOther = isFields(around) && valueInstead(path, instead) !== undefined
  return path.length === 0 || isThere || hasOther ? path : toLeaveOut(value, path.slice(0, -1), instead)
}

/** Each path once, the last items of a list first, so that the places of the others stay. */
function lastFirst(paths: readonly Path[]): Path[] {
  const each = new Map(paths.map(path => [path.join('.'), path]))
  return [...each.values()].sort((a, b) => b.length - a.length || Number(b.at(-1)) - Number(a.at(-1)) || 0)
}

function leaveOut(value: unknown, path: Path, instead: Instead): void {
  const around = partAt(value, path.slice(0, -1))
  const key = String(path.at(-1))
  const other = valueInstead(path, instead)
  if (!isFields(around)) return
  if (other !== undefined) around[key] = structuredClone(other)
  else if (Array.isArray(around)) around.splice(Number(key), 1)
  else delete around[key]
}

/** The ids of instances that a stored record, or the text of a damaged file, names. */
export function instancesIn(stored: unknown): number[] {
  const text = typeof stored === 'string' ? stored : (JSON.stringify(stored) ?? '')
  const found = [...text.matchAll(/"instance":\s{0,9}([1-9]\d{0,14})\b/g)].map(([, id]) => Number(id))
  return [...new Set(found)]
}
