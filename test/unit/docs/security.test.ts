import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeMistake, testMistake, wrong } from './named-things.ts'

const text = readFileSync('docs/security.md', 'utf8')

/** Rows of the tables: the protection, its code, and its tests. */
const rows = text.split('\n').flatMap(line => {
  if (!line.startsWith('| ') || /^\| (Item|Protection) \|/.test(line)) return []
  const [protection = '', code = '', tests = '', ...more] = line.slice(2, -2).split(' | ')
  if (tests === '' || more.length > 0) throw new Error(`not three cells: ${line}`)
  return [{ protection, code: code.split('<br>'), tests: tests.split('<br>') }]
})

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

test('every item of Electron’s checklist is listed in order', () => {
  const numbers = rows.flatMap(({ protection }) => {
    const [, first, last = first] = /^(\d+)(?:–(\d+))?\. /.exec(protection) ?? []
    return first === undefined ? [] : range(Number(first), Number(last))
  })
  expect(numbers).toEqual(range(1, 20))
})

test('every row names code and tests that exist', () => {
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.flatMap(({ code }) => wrong(code, codeMistake))).toEqual([])
  expect(rows.flatMap(({ tests }) => wrong(tests, testMistake))).toEqual([])
  const inText = text.match(/`[^`\s#]+\.ts#[^`]+`/g) ?? []
  expect(wrong(inText, codeMistake)).toEqual([])
})

test('a reference to missing code or tests is found', () => {
  expect(codeMistake('`electron/desktop/nothing.ts#harden`')).toBe('is no file')
  expect(codeMistake('`electron/desktop/hardening.ts#softenPages`')).toBe('is not in that file')
  expect(codeMistake('`alerts.ts#words`')).toMatch('is in several files')
  expect(codeMistake('`electron-builder.yml#runAsNode: true`')).toBe('is not in that file')
  expect(testMistake('`unit/docs/security.test.ts` › an untested title')).toBe('is no test in that file')
})

test('Electron is 45 or newer', () => {
  const project: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  expect(project.devDependencies['electron']).toMatch(/^\^(4[5-9]|[5-9]\d)\./)
})
