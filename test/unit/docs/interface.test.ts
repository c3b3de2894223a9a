import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseBaseUrl } from '../../../electron/service/base-url.ts'
import { createClient } from '../../../electron/service/client.ts'
import { generalSentences } from '../../../electron/service/http/sentences.ts'
import { twoFactorSentences } from '../../../electron/service/http/two-factor-sentences.ts'
import { publicRoutes } from '../../../simulator/routes/public/routes.ts'
import { routes } from '../../../simulator/routes/routes.ts'
import { type Line, type Names, namesIn, readLines, textOf } from './interface-table.ts'

const lines = readLines(readFileSync('docs/interface.md', 'utf8'))
const named = (column: keyof Omit<Line, 'what'>) => new Set(lines.flatMap(line => line[column]))
const known = new Set<string>(routes.map(({ method, path }) => `${method} ${path}`))

/** By text, since most files are named many times. */
const read = new Map<string, Names>()
function namesOf(text: string): Names {
  const names = read.get(text) ?? namesIn(text)
  read.set(text, names)
  return names
}

/** What is wrong with an entry of a cell; undefined for nothing. */
function mistake(column: string, entry: string): string | undefined {
  if (entry === '—') return column === 'test' ? 'must be named here' : undefined
  const proof = /^`([^`]+)` › (.+)$/.exec(entry)
  const [, file = '', name = ''] = proof ?? /^`([^`#]+)(?:#([^`]+))?`$/.exec(entry) ?? []
  if (/^[A-Z]+ \//.test(file)) return known.has(file) ? undefined : 'is no route of the simulator'
  const text = textOf(column, file)
  if (text === undefined) return 'is no file'
  if (column === 'test') return namesOf(text).tests.has(name) ? undefined : 'is no test in that file'
  if (name === '') return column === 'page' ? undefined : 'names nothing in the file'
  return namesOf(text).declared.has(name) ? undefined : 'is not declared in that file'
}

test('the document has a line for every part of the interface that is laid out in it', () => {
  expect(lines.length).toBeGreaterThan(140)
  expect(new Set(lines.map(({ what, section }) => `${section}: ${what}`)).size).toBe(lines.length)
})

test('whatever a line names exists: files, what is declared in them, routes and tests', () => {
  const mistakes = lines.flatMap(({ section, what, ...columns }) =>
    Object.entries(columns).flatMap(([column, entries]) =>
      entries.flatMap(entry => {
        const wrong = mistake(column, entry)
        return wrong === undefined ? [] : [`${section}: ${what}: ${column}: ${entry} ${wrong}`]
      }),
    ),
  )
  expect(mistakes).toEqual([])
})

test('a line that names what is not there is found out', () => {
  const real = lines[0] ?? expect.fail('no line')
  expect(real.client.map(entry => mistake('client', entry))).toEqual([undefined])
  expect(mistake('client', '`service/nothing.ts#currentUser`')).toBe('is no file')
  expect(mistake('client', '`service/account.ts#nobody`')).toBe('is not declared in that file')
  expect(mistake('client', '`service/account.ts#send`'), 'a parameter').toBe('is not declared in that file')
  expect(mistake('client', '`service/account.ts`')).toBe('names nothing in the file')
  expect(mistake('page', '`screens/account/Nothing.svelte`')).toBe('is no file')
  expect(mistake('simulator', '`GET /nothing/`')).toBe('is no route of the simulator')
  expect(mistake('test', '`unit/docs/interface.test.ts` › what nobody tests')).toBe('is no test in that file')
  expect(mistake('test', '`unit/docs/interface.test.ts` › must be named here')).toBe(
    'is no test in that file',
  )
  expect(mistake('test', '—')).toBe('must be named here')
})

test('every operation of the client has a line', () => {
  const client = createClient({ baseUrl: parseBaseUrl('https://a.example'), key: 'k' })
  const operations = Object.entries(client).flatMap(([group, methods]) => {
    const file = group.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
    return Object.keys(methods).map(method => `\`service/${file}.ts#${method}\``)
  })
  expect(operations.filter(operation => !named('client').has(operation))).toEqual([])
})

test('every route of the simulator that the interface has has a line', () => {
  const own = new Set(publicRoutes.map(({ method, path }) => `${method} ${path}`))
  const without = [...known].filter(route => !own.has(route) && !named('simulator').has(`\`${route}\``))
  expect(without).toEqual([])
})

test('every error code that has a sentence has a line, with the sentence in the client', () => {
  const codes = [...Object.keys(generalSentences), ...Object.keys(twoFactorSentences)]
  const without = codes.filter(
    code =>
      !lines.some(
        ({ what, client }) =>
          what.startsWith(`\`${code}\` (`) && client.some(entry => entry.endsWith(`#${code}\``)),
      ),
  )
  expect(without).toEqual([])
})
