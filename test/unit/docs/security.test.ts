import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { namesIn } from './interface-table.ts'

const text = readFileSync('docs/security.md', 'utf8')

/** Lines of the tables: what is held, the code that does it, the tests that prove it. */
const lines = text.split('\n').flatMap(line => {
  if (!line.startsWith('| ') || /^\| (Item|Held off by) \|/.test(line)) return []
  const [what = '', code = '', proof = '', ...more] = line.slice(2, -2).split(' | ')
  if (proof === '' || more.length > 0) throw new Error(`not three cells: ${line}`)
  return [{ what, code: code.split('<br>'), tests: proof.split('<br>') }]
})

/** What is wrong with a piece of code that is named as `path#name`; undefined for nothing. */
function codeMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`#]+)#([^`]+)`$/.exec(entry) ?? []
  if (!existsSync(path)) return 'is no file'
  const source = readFileSync(path, 'utf8')
  const there = path.endsWith('.ts') ? namesIn(source).declared.has(name) : source.includes(name)
  return there ? undefined : 'is not in that file'
}

function testMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(entry) ?? []
  if (!existsSync(`test/${path}`)) return 'is no file'
  return namesIn(readFileSync(`test/${path}`, 'utf8')).tests.has(name) ? undefined : 'is no test in that file'
}

const wrong = (entries: readonly string[], mistake: (entry: string) => string | undefined) =>
  entries.flatMap(entry => (mistake(entry) === undefined ? [] : [`${entry} ${mistake(entry)}`]))

test('every item of Electron’s checklist is there, in its order', () => {
  const numbers = lines.flatMap(({ what }) => /^(\d+)\. /.exec(what)?.[1] ?? []).map(Number)
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
})

test('whatever a line names exists: the code, and the test that proves it', () => {
  expect(lines.length).toBeGreaterThan(30)
  expect(lines.flatMap(({ code }) => wrong(code, codeMistake))).toEqual([])
  expect(lines.flatMap(({ tests }) => wrong(tests, testMistake))).toEqual([])
  const inText = text.match(/`renderer\/[^`]+#[^`]+`/g) ?? []
  expect(wrong(inText, codeMistake)).toEqual([])
})

test('a line that names what is not there is found out', () => {
  expect(codeMistake('`electron/shell/nothing.ts#harden`')).toBe('is no file')
  expect(codeMistake('`electron/shell/hardening.ts#softenPages`')).toBe('is not in that file')
  expect(codeMistake('`electron-builder.yml#runAsNode: true`')).toBe('is not in that file')
  expect(testMistake('`unit/docs/security.test.ts` › what nobody tests')).toBe('is no test in that file')
})

test('Electron is as new as the document says', () => {
  const project: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  expect(project.devDependencies['electron']).toMatch(/^\^(4[5-9]|[5-9]\d)\./)
})
