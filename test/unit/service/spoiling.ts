import { ServiceError } from '#service/service-error.ts'

/** The path to a value in JSON: names and positions. */
export type Place = readonly (string | number)[]

/** Every place in a JSON value, its root included. */
export function placesIn(json: unknown, at: Place = []): Place[] {
  if (typeof json !== 'object' || json === null) return [at]
  const entries: [string | number, unknown][] = Array.isArray(json)
    ? json.map((inner, position) => [position, inner])
    : Object.entries(json)
  return [at, ...entries.flatMap(([name, inner]) => placesIn(inner, [...at, name]))]
}

/** The same JSON with another value at a place, or none. */
export function spoiled(json: unknown, [name, ...rest]: Place, instead: unknown): unknown {
  if (name === undefined) return instead ?? null
  if (Array.isArray(json)) {
    return json.map((inner: unknown, position) => (position === name ? spoiled(inner, rest, instead) : inner))
  }
  const record = json as Record<string, unknown>
  return { ...record, [name]: rest.length === 0 ? instead : spoiled(record[name], rest, instead) }
}

/** Whether nothing or a `ServiceError` was thrown. */
export function isExpected(thrown: unknown): boolean {
  return thrown === 'none' || thrown instanceof ServiceError
}

/** Fields of several types: only a `success` of false means no; `permissions` are false or an object. */
const ofSeveralTypes: ReadonlySet<string> = new Set(['$.success', '$.permissions'])

/**
 * The first place with another type than the right answer's; null and missing values are fine. An item of a list may be
 * like any item of the right one.
 */
export function strayIn(right: unknown, given: unknown, at = '$'): string | undefined {
  if (given === undefined || given === null || right === undefined || ofSeveralTypes.has(at)) return undefined
  if (Array.isArray(right)) {
    if (!Array.isArray(given)) return at
    const strays = given.map((inner, position) =>
      right.map(item => strayIn(item, inner, `${at}[${position}]`)),
    )
    return first(strays.map(each => (each.includes(undefined) ? undefined : each[0])))
  }
  if (typeof right !== typeof given || Array.isArray(given)) return at
  if (typeof right !== 'object' || right === null) return undefined
  const fields = given as Record<string, unknown>
  return first(Object.entries(right).map(([name, inner]) => strayIn(inner, fields[name], `${at}.${name}`)))
}

function first(strays: (string | undefined)[]): string | undefined {
  return strays.find(stray => stray !== undefined)
}
