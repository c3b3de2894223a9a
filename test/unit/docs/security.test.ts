import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeMistake, testMistake, wrong } from './named-things.ts'

const text = readFileSync('docs/security.md', 'utf8')

/** Rows of the tables: the threat, the code against it, and its tests. */
const lines = text.split('\n').flatMap(line => {
  if (!line.startsWith('| ') || /^\| (Item|Held off by) \|/.test(line)) return []
  const [what = '', code = '', proof = '', ...more] = line.slice(2, -2).split(' | ')
  if (proof === '' || more.length > 0) throw new Error(`not three cells: ${line}`)
  return [{ what, code: code.split('<br>'), tests: proof.split('<br>') }]
})

test('every item of Electron’s checklist is listed in order', () => {
  const numbers = lines.flatMap(({ what }) => /^(\d+)\. /.exec(what)?.[1] ?? []).map(Number)
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
})

test('every row names code and tests that exist', () => {
  expect(lines.length).toBeGreaterThan(30)
  expect(lines.flatMap(({ code }) => wrong(code, codeMistake))).toEqual([])
  expect(lines.flatMap(({ tests }) => wrong(tests, testMistake))).toEqual([])
  const inText = text.match(/`renderer\/[^`]+#[^`]+`/g) ?? []
  expect(wrong(inText, codeMistake)).toEqual([])
})

test('a reference to missing code or tests is found', () => {
  expect(codeMistake('`electron/shell/nothing.ts#harden`')).toBe('is no file')
  expect(codeMistake('`electron/shell/hardening.ts#softenPages`')).toBe('is not in that file')
  expect(codeMistake('`electron-builder.yml#runAsNode: true`')).toBe('is not in that file')
  expect(testMistake('`unit/docs/security.test.ts` › what nobody tests')).toBe('is no test in that file')
})

test('Electron is 45 or newer', () => {
  const project: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  expect(project.devDependencies['electron']).toMatch(/^\^(4[5-9]|[5-9]\d)\./)
})
