import { ServiceError } from '../../../electron/service/service-error.ts'

/** Where a value is in JSON: the names and positions on the way there. */
export type Place = readonly (string | number)[]

/** Every place in a JSON value, its root included. */
export function placesIn(json: unknown, at: Place = []): Place[] {
  if (typeof json !== 'object' || json === null) return [at]
  const entries: [string | number, unknown][] = Array.isArray(json)
    ? json.map((inner, position) => [position, inner])
    : Object.entries(json)
  return [at, ...entries.flatMap(([name, inner]) => placesIn(inner, [...at, name]))]
}

/** The same JSON with another value at a place; without one, nothing is there any more. */
export function spoiled(json: unknown, [name, ...rest]: Place, instead: unknown): unknown {
  if (name === undefined) return instead ?? null
  if (Array.isArray(json)) {
    return json.map((inner: unknown, position) => (position === name ? spoiled(inner, rest, instead) : inner))
  }
  const record = json as Record<string, unknown>
  return { ...record, [name]: rest.length === 0 ? instead : spoiled(record[name], rest, instead) }
}

/** Nothing thrown, or one of the ways to fail that callers know. */
export function isExpected(thrown: unknown): boolean {
  return thrown === 'none' || thrown instanceof ServiceError
}

/** What may be of several types: only a `success` of false says no, and `permissions` are false or an object. */
const ofSeveralTypes: ReadonlySet<string> = new Set(['$.success', '$.permissions'])

/** The first place where a value is of another type than the right one; null and missing ones are no harm. */
export function strayIn(right: unknown, given: unknown, at = '$'): string | undefined {
  if (given === undefined || given === null || right === undefined || ofSeveralTypes.has(at)) return undefined
  if (Array.isArray(right)) {
    if (!Array.isArray(given)) return at
    return first(given.map((inner, position) => strayIn(right[0], inner, `${at}[${position}]`)))
  }
  if (typeof right !== typeof given || Array.isArray(given)) return at
  if (typeof right !== 'object' || right === null) return undefined
  const fields = given as Record<string, unknown>
  return first(Object.entries(right).map(([name, inner]) => strayIn(inner, fields[name], `${at}.${name}`)))
}

function first(strays: (string | undefined)[]): string | undefined {
  return strays.find(stray => stray !== undefined)
}
