import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeMistake, testFilesOf, testMistake, wrong } from './named-things.ts'

const [, text = ''] = readFileSync('docs/electron.md', 'utf8').split('\n## ')

/** Rows of the table: what Electron does, what Berth does, code, tests, and whether a real Electron was used. */
const rows = text.split('\n').flatMap(line => {
  if (!line.startsWith('| ') || line.startsWith('| Electron or')) return []
  const [electron = '', berth = '', code = '', tests = '', checked = ''] = line.slice(2, -2).split(' | ')
  return [{ electron, berth, code: code.split('<br>'), tests: tests.split('<br>'), checked }]
})

/** Whether a reference names a test of `test/electron`, which run in a real Electron. */
const isSpec = (test: string) =>
  testFilesOf(test).every(path => /^test\/electron\/(specs|shipped)\//.test(path))

test('every row names code and tests that exist', () => {
  expect(rows.length).toBeGreaterThan(20)
  expect(rows.flatMap(({ code }) => wrong(code, codeMistake))).toEqual([])
  expect(rows.flatMap(({ tests }) => wrong(tests, testMistake))).toEqual([])
})

test('every row says whether it was seen in a real Electron; only those with a spec were', () => {
  for (const { electron, tests, checked } of rows) {
    expect(['read', 'seen'], electron).toContain(checked)
    if (checked === 'seen') expect(tests.some(isSpec), electron).toBe(true)
  }
})
