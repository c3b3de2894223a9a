import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generalSentences } from '../../../electron/service/http/sentences.ts'
import { twoFactorSentences } from '../../../electron/service/http/two-factor-sentences.ts'
import type { Route } from '../../../simulator/http/route.ts'
import { routes } from '../../../simulator/routes/routes.ts'
import { rows } from '../service/right-answers.ts'
import { namesByPlace, tokenAfter } from './named-things.ts'

/**
 * docs/interface.md, generated from the code and the tests:
 * - operations: from the rows of `wire.test.ts` and the routes of the simulator;
 * - error codes: wherever a code occurs in the client, the simulator and the tests;
 * - rules: from comments `// interface 8: Backup codes come in tens` before a declaration or a test. Comments with
 *   the same words make one line.
 */
export function interfaceTable(): string {
  return [
    '# The interface, line by line',
    '',
    'What the service’s interface promises, and where Berth, the simulator and the tests have it; the numbers are its',
    'sections. This is generated from the code and the tests: `npx vitest run test/unit/docs/interface.test.ts -u`',
    'writes it anew, and the same test refuses one that is out of date.',
    '',
    '## Operations',
    '',
    'Each is sent and its answer understood in `test/unit/service/wire.test.ts`, under the same name.',
    '',
    '| Request | In the client | In the simulator |',
    '|---|---|---|',
    ...operations().map(({ request, method, route }) => `| ${code(request)} | ${code(method)} | ${route} |`),
    '',
    '## Error codes',
    '',
    '| Code | In the client | In the simulator | Tests |',
    '|---|---|---|---|',
    ...errorCodes().map(line),
    '',
    '## Rules',
    '',
    '| Section | What | In Berth | In the simulator | Tests |',
    '|---|---|---|---|---|',
    ...rules().map(each => `| ${each.section} ${line(each)}`),
    '',
  ].join('\n')
}

interface Proven {
  what: string
  client: string[]
  simulator: string[]
  tests: string[]
}

const code = (text: string) => `\`${text}\``
const cell = (entries: readonly string[]) => entries.join('<br>') || '–'
const line = ({ what, client, simulator, tests }: Proven) =>
  `| ${what} | ${cell(client)} | ${cell(simulator)} | ${cell(tests)} |`

interface Line {
  request: string
  method: string
  route: string
}

/** Every method of the client with its request (ids as `{id}`) and the route that answers it. */
export function operations(): Line[] {
  const lines = rows.map(([sent, , , call]): Line => {
    const [verb = '', address = ''] = sent.replace(/\?.*$/, '').split(' ')
    const path = address.startsWith('/api/') ? address : `/api/v0${address}`
    const route = routes.find(each => each.method === verb && pattern(each).test(path))
    const [, group = '', method = ''] = /\bc\s*\.\s*(\w+)\s*\.\s*(\w+)/.exec(String(call)) ?? []
    return {
      request: `${verb} ${path.replace('/api/v0', '').replace(/\/\d+(?=\/|$)/g, '/{id}')}`,
      method: `${group}.${method}`,
      route: route ? routeOf(route) : '–',
    }
  })
  return [...new Map(lines.map(each => [`${each.request} ${each.method}`, each])).values()]
}

/** A route as shown in its line. */
export function routeOf({ method, path, version }: Route): string {
  return code(`${method} ${version ? `/api/${version}` : ''}${path}`)
}

/** Matches with and without the last slash. */
function pattern({ path, version }: Route): RegExp {
  return new RegExp(`^/api/${version ?? 'v0'}${path.replace(/:\w+/g, '[^/]+').replace(/\/$/, '')}/?$`)
}

/** Every code that has its own sentence, and the files and tests that contain it. */
export function errorCodes(): Proven[] {
  return [
    ...Object.keys(generalSentences).map(name => [name, 'service/http/sentences.ts'] as const),
    ...Object.keys(twoFactorSentences).map(name => [name, 'service/http/two-factor-sentences.ts'] as const),
  ].map(([name, file]) => {
    const having = (folder: string) =>
      sources.filter(({ path, text }) => path.startsWith(folder) && new RegExp(`\\b${name}\\b`).test(text))
    return {
      what: code(name),
      client: [code(file)],
      simulator: having('simulator/').map(({ path }) => code(path.replace('simulator/', ''))),
      tests: having('test/integration/s').map(({ path }) => code(path.replace('test/', ''))),
    }
  })
}

interface Rule extends Proven {
  section: string
}

/** Rules from the comments. @throws Error for a comment that does not stand before a named declaration or test */
export function rules(): Rule[] {
  const found = new Map<string, Rule>()
  for (const { path, text } of sources) {
    const notes = [...text.matchAll(/^ *\/\/ interface ([\d.]+): (.+)$/gm)]
    if (notes.length === 0) continue
    const names = namesByPlace(text)
    for (const note of notes) {
      const [, section = '', what = ''] = note
      const key = `${section} ${what}`
      const rule = found.get(key) ?? { section, what, client: [], simulator: [], tests: [] }
      found.set(key, rule)
      const { declared, test } = names.get(tokenAfter(text, note.index)) ?? {}
      const name = path.startsWith('test/') ? test : declared
      if (name === undefined) throw new Error(`${path}: nothing has a name after “interface ${key}”.`)
      const [folder = '', ...rest] = path.split('/')
      const file = rest.join('/')
      if (folder === 'test') rule.tests.push(`${code(file)} › ${name}`)
      else rule[folder === 'simulator' ? 'simulator' : 'client'].push(code(`${file}#${name}`))
    }
  }
  return [...found.values()].sort(
    (a, b) => inOrder.compare(a.section, b.section) || inOrder.compare(a.what, b.what),
  )
}

const inOrder = new Intl.Collator('en', { numeric: true })

/** Sources of Berth, the simulator and the tests except these, by path. */
const sources = ['electron', 'simulator', 'test/integration', 'test/unit', 'test/e2e']
  .flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path =>
      join(folder, path).replaceAll('\\', '/'),
    ),
  )
  .filter(path => path.endsWith('.ts') && !path.startsWith('test/unit/docs/'))
  .sort(inOrder.compare)
  .map(path => ({ path, text: readFileSync(path, 'utf8') }))
