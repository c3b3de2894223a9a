import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'

type Json = Record<string, unknown>

/** The answers described by OpenAPI documents: from `GET /path/ 200` to its schemas and their documents. */
export type Described = Map<string, { schema: Json; document: Json }[]>

/** Reads every OpenAPI document of a folder. */
export async function readDescribed(folder: string): Promise<Described> {
  const described: Described = new Map()
  const files = (await readdir(folder)).filter(name => name.endsWith('.yaml'))
  for (const file of files) {
    const document = parse(await readFile(join(folder, file), 'utf8')) as Json
    for (const [path, methods] of entries(document['paths'])) {
      for (const [method, operation] of entries(methods))
        addAnswers(described, document, method, path, operation)
    }
  }
  return described
}

function addAnswers(
  described: Described,
  document: Json,
  method: string,
  path: string,
  operation: unknown,
): void {
  for (const [status, answer] of entries(inner(operation, 'responses'))) {
    const schema = inner(answer, 'content', 'application/json', 'schema')
    if (!isObject(schema)) continue
    const name = `${method.toUpperCase()} ${path.replace(/\/?$/, '/')} ${status}`
    described.set(name, [...(described.get(name) ?? []), { schema, document }])
  }
}

/** Where an answer differs from its schema: values of another type and missing properties. */
export function differences(schema: Json, value: unknown, document: Json, at = ''): string[] {
  const reference = schema['$ref']
  if (typeof reference === 'string') return differences(resolve(document, reference), value, document, at)
  const all = schema['allOf']
  if (Array.isArray(all)) return all.flatMap(part => differences(part as Json, value, document, at))
  const any = schema['anyOf']
  if (Array.isArray(any)) {
    const attempts = any.map(part => differences(part as Json, value, document, at))
    return attempts.find(found => found.length === 0) ?? attempts[0] ?? []
  }
  if (value === null) return schema['nullable'] === true ? [] : [`${at || 'answer'} is null`]
  if (!hasType(schema['type'], value)) return [`${at || 'answer'} is no ${String(schema['type'])}`]
  if (Array.isArray(value)) {
    const items = schema['items']
    const found = isObject(items) ? value.flatMap(item => differences(items, item, document, `${at}[]`)) : []
    return [...new Set(found)]
  }
  if (!isObject(value)) return []
  return entries(schema['properties']).flatMap(([name, property]) => {
    const path = at === '' ? name : `${at}.${name}`
    if (!Object.hasOwn(value, name)) return [`${path} is missing`]
    return differences(property as Json, value[name], document, path)
  })
}

function hasType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type
    default:
      return true
  }
}

function resolve(document: Json, reference: string): Json {
  const found = inner(document, ...reference.replace('#/', '').split('/'))
  return isObject(found) ? found : {}
}

function inner(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), value)
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
