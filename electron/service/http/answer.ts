import type { Static, TProperties, TSchema } from 'typebox'
import Type from 'typebox'
import { Compile } from 'typebox/compile'

/** What an answer must be, and what of it may be wrong without harm. */
export interface Answer<T> {
  /** Where `body` breaks the promise and what was expected there, as a JSON path; undefined when it holds. */
  problem(body: unknown): AnswerProblem | undefined
  /** `body` itself, in which optional fields of a wrong type have become undefined. Call only without a problem. */
  read(body: unknown): T
}

export interface AnswerProblem {
  /** JSON path, such as `$.instances[3].id`. */
  path: string
  expected: string
}

/**
 * Records of an answer: fields that the interface promises, checked strictly, and fields that deployments are known
 * to send (`FIELDS`), each of which is undefined when it is of another type. Unknown fields are kept.
 */
export interface RecordShape<T> {
  promised: TSchema
  known: TProperties
  /** Only a type: what a record is once read. */
  record?: T
}

export type Optional<Known extends TProperties> = { [F in keyof Known]?: Static<Known[F]> | undefined }

export function recordShape<const P extends TProperties, const K extends TProperties>(
  promised: P,
  known: K,
): RecordShape<Static<Type.TObject<P>> & Optional<K>> {
  return { promised: Type.Object(promised), known }
}

/** An answer that is exactly checked by `schema`; unknown fields are kept. */
export function plain<const S extends TSchema>(schema: S): Answer<Static<S>> {
  const checker = lazy(() => Compile(schema as TSchema))
  return {
    problem: body => problemIn(checker(), body),
    read: body => body as Static<S>,
  }
}

/** An answer that is one record. */
export function single<T>(shape: RecordShape<T>): Answer<T> {
  return withRecords(shape.promised, shape, body => [body])
}

/** An answer `{[field]: record}` with more `fields` beside it. */
export function wrapped<T, F extends string>(field: F, shape: RecordShape<T>): Answer<{ [K in F]: T }> {
  return withRecords(Type.Object({ [field]: shape.promised }), shape, body => [(body as Fields)[field]])
}

/** An answer `{[field]: [record, …]}`. */
export function listed<T, F extends string>(field: F, shape: RecordShape<T>): Answer<{ [K in F]: T[] }> {
  return withRecords(
    Type.Object({ [field]: Type.Array(shape.promised) }),
    shape,
    body => (body as Record<string, unknown[]>)[field] ?? [],
  )
}

/**
 * A list whose wrapping the interface does not show: the array itself, or `{[field]: [record, …]}` under one of
 * `fields`. Gives the array.
 */
export function looseList<T>(fields: readonly string[], shape: RecordShape<T>): Answer<T[]> {
  const records = (body: unknown): unknown =>
    Array.isArray(body) ? body : fields.map(field => (body as Fields | null)?.[field]).find(Array.isArray)
  const inner = withRecords<T, T[]>(Type.Array(shape.promised), shape, body => body as unknown[])
  return {
    problem: body => inner.problem(records(body)),
    read: body => inner.read(records(body)),
  }
}

type Fields = Record<string, unknown>

function withRecords<T, Body>(
  promised: TSchema,
  shape: RecordShape<T>,
  records: (body: unknown) => unknown[],
): Answer<Body> {
  const checker = lazy(() => Compile(promised))
  const clean = lazy(() => cleaner(shape.known))
  return {
    problem: body => problemIn(checker(), body),
    read: body => {
      for (const record of records(body)) clean()(record as Fields)
      return body as Body
    },
  }
}

/**
 * Makes fields of a wrong type undefined, in place, since a copy of a large answer costs more than its transfer.
 * A record whose fields are all right is only looked at. What is wrong in one record (null, mostly) is wrong in the
 * next, so the fields that were wrong before come first: often they are all.
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
    for (const [field, checker] of wrongBefore) clear(record, field, checker)
    if (allRight.Check(record)) return
    for (const [field, checker] of checkers()) {
      if (clear(record, field, checker)) wrongBefore.set(field, checker)
    }
  }
}

/** Makes the field undefined when it has a wrong type. Gives whether it had. */
function clear(record: Fields, field: string, checker: Checker): boolean {
  const value = record[field]
  if (value === undefined || (value !== null && checker.Check(value))) return false
  record[field] = undefined
  return true
}

interface Checker {
  Check(value: unknown): boolean
  Errors(value: unknown): { instancePath: string; message: string; params: object }[]
}

function problemIn(checker: Checker, body: unknown): AnswerProblem | undefined {
  if (checker.Check(body)) return undefined
  const first = checker.Errors(body)[0]
  if (!first) return { path: '$', expected: 'must have the promised shape' }
  const missing: unknown = 'requiredProperties' in first.params ? first.params.requiredProperties : undefined
  if (!Array.isArray(missing)) return { path: jsonPath(first.instancePath), expected: first.message }
  return { path: jsonPath(`${first.instancePath}/${missing[0]}`), expected: 'must be there' }
}

/** `/instances/3/id` as `$.instances[3].id`. */
function jsonPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`), '$')
}

/** Compiling takes milliseconds, so it waits for the first answer of its kind. */
function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
