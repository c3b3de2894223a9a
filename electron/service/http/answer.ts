import type { Static, TProperties, TSchema } from 'typebox'
import * as Type from 'typebox'
import { Compile } from 'typebox/schema'
import { ServiceError } from '../service-error.ts'
import { parseJson } from './json.ts'

/** The expected shape of an answer, and how tolerantly it is read. */
export interface HttpAnswer<T> {
  /** The first place where `body` has the wrong shape; undefined if there is none. */
  problem(body: unknown): AnswerProblem | undefined
  /**
   * `body` itself, with optional fields of a wrong type made undefined. Only call it if there is no problem.
   * `onUnread` is called with the unreadable records that a list lacks.
   */
  read(body: unknown, onUnread?: (unread: readonly UnreadRecord[]) => void): T
}

export interface AnswerProblem {
  /** JSON path, such as `$.instances[3].id`. */
  path: string
  expected: string
}

/**
 * The shape of records: fields that the interface promises, checked strictly, and fields known from deployments, which
 * become undefined if they have another type and cannot be converted. Unknown fields are kept.
 */
export interface RecordShape<T> {
  promised: TSchema
  known: TProperties
  /** Normalises fields that deployments write in different ways, before the checks. */
  tidy: (record: Fields) => void
  /** Never set: it only carries the type of a record. */
  record?: T
}

export type Fields = Record<string, unknown>

/**
 * Epoch seconds, from 2015 to 2100. What deployments write in place of an unknown moment (0, -1) or in another unit
 * (milliseconds) is none.
 */
export const Moment = Type.Number({ minimum: 1_420_070_400, maximum: 4_102_444_800 })

/** A number that stands for one thing. Others can't be written into an address, or stand for another once they were. */
export const ServiceNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export type Optional<Known extends TProperties> = { [F in keyof Known]?: Static<Known[F]> | undefined }

export function recordShape<const P extends TProperties, const K extends TProperties>(
  promised: P,
  known: K,
  tidy: (record: Fields) => void = () => {},
): RecordShape<Static<Type.TObject<P>> & Optional<K>> {
  return { promised: Type.Object(promised), known, tidy }
}

/** An unreadable record of a list, with its id if that is readable. */
export interface UnreadRecord extends AnswerProblem {
  id: number | undefined
}

/** The readable records of a list, and the unreadable ones: a malformed record does not hide the others. */
export type ReadList<F extends string, T> = { [K in F]: T[] } & { unread: readonly UnreadRecord[] }

/** An answer that `schema` checks strictly; unknown fields are kept. */
export function plainAnswer<const S extends TSchema>(schema: S): HttpAnswer<Static<S>> {
  const checker = lazy(() => Compile(schema as TSchema))
  return {
    problem: body => problemIn(checker(), body),
    read: body => body as Static<S>,
  }
}

/** An answer that is one record. */
export function singleAnswer<T>(shape: RecordShape<T>): HttpAnswer<T> {
  const reader = recordReader(shape)
  return {
    problem: body => reader.problem(body, '$'),
    read: body => reader.read(body),
  }
}

/** An answer `{[field]: record}` with more `fields` beside it. */
export function wrappedAnswer<T, F extends string>(
  field: F,
  shape: RecordShape<T>,
): HttpAnswer<{ [K in F]: T }> {
  const reader = recordReader(shape)
  const container = lazy(() => Compile(Type.Object({ [field]: Type.Unknown() })))
  return {
    problem: body => problemIn(container(), body) ?? reader.problem((body as Fields)[field], `$.${field}`),
    read: body => {
      reader.read((body as Fields)[field])
      return body as { [K in F]: T }
    },
  }
}

/** The same, with null for a missing record. */
export function wrappedOrNull<T, F extends string>(
  field: F,
  shape: RecordShape<T>,
): HttpAnswer<{ [K in F]: T | null }> {
  const record = wrappedAnswer(field, shape)
  const isNull = (body: unknown) => isFields(body) && body[field] === null
  return {
    problem: body => (isNull(body) ? undefined : record.problem(body)),
    read: body => (isNull(body) ? (body as { [K in F]: null }) : record.read(body)),
  }
}

/** The most unreadable records for which the reason is given. */
const MOST_TOLD = 20

/**
 * An answer `{[field]: [record, …]}`, reduced to its readable records. With `oneAlone`, a single record in place of
 * the list is a list of one. A list without a single readable record is a problem, unless `allowNone`.
 */
export function listAnswer<T, F extends string>(
  field: F,
  shape: RecordShape<T>,
  { allowNone = false, oneAlone = false }: { allowNone?: boolean; oneAlone?: boolean } = {},
): HttpAnswer<Fields & ReadList<F, T>> {
  const reader = recordReader(shape)
  const list = Type.Array(Type.Unknown())
  const container = lazy(() =>
    Compile(
      Type.Object({
        [field]: oneAlone ? Type.Union([list, Type.Record(Type.String(), Type.Unknown())]) : list,
      }),
    ),
  )
  const records = (body: unknown): unknown[] => {
    const there = (body as Fields)[field]
    return Array.isArray(there) ? there : [there]
  }
  return {
    problem: body => {
      const problem = problemIn(container(), body)
      if (problem || allowNone || records(body).length === 0) return problem
      return noneFits(records(body), `$.${field}`, reader)
    },
    read: (body, onUnread) => {
      const { read, unread } = readAll(records(body), `$.${field}`, reader)
      onUnread?.(unread)
      return { ...(body as Fields), [field]: read, unread } as Fields & ReadList<F, T>
    },
  }
}

/**
 * A list whose form the interface does not show: an array, or `{[field]: [record, …]}` under one of `fields`, which
 * some deployments write as JSON text. Reduced to its readable records.
 */
export function looseList<T>(fields: readonly string[], shape: RecordShape<T>): HttpAnswer<T[]> {
  const reader = recordReader(shape)
  const records = (body: unknown): unknown =>
    Array.isArray(body)
      ? body
      : fields.map(field => jsonWithin((body as Fields | null)?.[field])).find(Array.isArray)
  return {
    problem: body => {
      const there = records(body)
      if (!Array.isArray(there)) return { path: '$', expected: 'must be array' }
      return there.length === 0 ? undefined : noneFits(there, '$', reader)
    },
    read: (body, onUnread) => {
      const { read, unread } = readAll(records(body) as unknown[], '$', reader)
      onUnread?.(unread)
      return read
    },
  }
}

function jsonWithin(value: unknown): unknown {
  return typeof value === 'string' ? parseJson(value) : value
}

interface RecordReader<T> {
  /** Whether the promised fields are valid. */
  fits(record: unknown): boolean
  problem(record: unknown, path: string): AnswerProblem | undefined
  /** Only call it with a record that fits. */
  read(record: unknown): T
}

function recordReader<T>({ promised, known, tidy }: RecordShape<T>): RecordReader<T> {
  const checker = lazy(() => Compile(promised))
  const clean = lazy(() => cleaner(known))
  const fits = (record: unknown) => {
    if (isFields(record)) tidy(record)
    return checker().Check(record)
  }
  return {
    fits,
    problem: (record, path) => (fits(record) ? undefined : problemIn(checker(), record, path)),
    read: record => {
      clean()(record as Fields)
      return record as T
    },
  }
}

/** The first record's problem, if none of them fits. */
function noneFits<T>(
  records: readonly unknown[],
  path: string,
  reader: RecordReader<T>,
): AnswerProblem | undefined {
  return records.some(reader.fits) ? undefined : reader.problem(records[0], `${path}[0]`)
}

function readAll<T>(records: readonly unknown[], path: string, reader: RecordReader<T>) {
  const read: T[] = []
  const unread: UnreadRecord[] = []
  for (const [position, record] of records.entries()) {
    if (reader.fits(record)) {
      read.push(reader.read(record))
      continue
    }
    // The reason takes far longer than the check.
    const why = unread.length < MOST_TOLD ? reader.problem(record, `${path}[${position}]`) : undefined
    unread.push({ path: `${path}[${position}]`, expected: 'must be readable', ...why, id: idOf(record) })
  }
  return { read, unread }
}

function idOf(record: unknown): number | undefined {
  const id = isFields(record) ? Number(record['id'] ?? Number.NaN) : Number.NaN
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Converts fields of a wrong type (see {@link alike}), or makes them undefined, in place, since a copy of a large
 * answer costs more than its transfer. A valid record is only checked. Records mostly share their wrong fields (null,
 * mostly), so the fields that were wrong before come first: often no others are.
 */
function cleaner(known: TProperties): (record: Fields) => void {
  const optional = Object.fromEntries(
    Object.entries(known).map(([field, schema]) => [field, Type.Optional(schema)]),
  )
  const allRight: Checker = Compile(Type.Object(optional))
  const checkers = lazy(() =>
    Object.entries(known).map(([field, schema]): [string, Checker] => [field, Compile(schema)]),
  )
  const wrongBefore = new Map<string, Checker>()
  return record => {
    if (allRight.Check(record)) return
    for (const [field, checker] of wrongBefore) putRight(record, field, checker)
    if (allRight.Check(record)) return
    for (const [field, checker] of checkers()) {
      if (putRight(record, field, checker)) wrongBefore.set(field, checker)
    }
  }
}

/** Converts a field of a wrong type, or makes it undefined. Returns whether it was wrong. */
function putRight(record: Fields, field: string, checker: Checker): boolean {
  const value = record[field]
  if (value === undefined || (value !== null && checker.Check(value))) return false
  record[field] = alike(value).find(other => checker.Check(other))
  return true
}

/** Makes a whole number of a promised field that a deployment writes as digits, in place. */
export function numberFromDigits(record: Fields, field: string): void {
  const value = record[field]
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) record[field] = Number(value)
}

/** The same value in other types: 10 and "10", true and 1. */
function alike(value: unknown): unknown[] {
  if (typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value.trim())) return [Number(value)]
  if (value === 0 || value === 1) return [value === 1, String(value)]
  return typeof value === 'number' ? [String(value)] : []
}

interface Checker {
  Check(value: unknown): boolean
  /** Whether the value is valid, and the errors. */
  Errors(value: unknown): [boolean, { instancePath: string; message: string; params: object }[]]
}

function problemIn(checker: Checker, body: unknown, root = '$'): AnswerProblem | undefined {
  if (checker.Check(body)) return undefined
  const [, [first]] = checker.Errors(body)
  if (!first) return { path: root, expected: 'must have the promised shape' }
  const missing: unknown = 'requiredProperties' in first.params ? first.params.requiredProperties : undefined
  if (!Array.isArray(missing)) return { path: jsonPath(root, first.instancePath), expected: first.message }
  return { path: jsonPath(root, `${first.instancePath}/${missing[0]}`), expected: 'must be there' }
}

/** `/instances/3/id` as `$.instances[3].id`. */
function jsonPath(root: string, pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`), root)
}

/** Compiling takes milliseconds, so it happens at the first answer of its kind. */
function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** `{success, msg?}`, the whole answer to many writes. The transport has turned `success: false` into an error. */
export const confirmation = plainAnswer(
  Type.Object({ success: Type.Boolean(), msg: Type.Optional(Type.String()) }),
)
export interface Confirmation {
  success: boolean
  /** The service's own words, uncleaned: clean them before showing. */
  msg?: string
}

/** For operations whose answer the interface does not show: an object is enough. */
export const looseConfirmation = plainAnswer(
  Type.Object({ success: Type.Optional(Type.Boolean()), msg: Type.Optional(Type.String()) }),
)
export type LooseConfirmation = Partial<Confirmation>

/** For operations that some deployments answer with plain text. */
export const wordsOrConfirmation = plainAnswer(Type.Union([Type.Object({}), Type.String()]))

/** Waits for a removal. A repeat after a lost answer that finds nothing to remove counts as done. @throws ServiceError */
export async function removed(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404 && error.code !== 'not_supported'
    if (!isGone || !error.ambiguous) throw error
  }
}
