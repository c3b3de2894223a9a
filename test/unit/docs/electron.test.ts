import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeMistake, testMistake, wrong } from './named-things.ts'

const text = readFileSync('docs/electron.md', 'utf8')

/** Rows of the tables: what Electron does, what Berth does, code, tests, and whether a real Electron was used. */
const lines = text.split('\n').flatMap(line => {
  if (!line.startsWith('| ') || line.startsWith('| What')) return []
  const [what = '', does = '', code = '', tests = '', seen = ''] = line.slice(2, -2).split(' | ')
  return [{ what, does, code: code.split('<br>'), tests: tests.split('<br>'), seen }]
})

test('every row names code and tests that exist', () => {
  expect(lines.length).toBeGreaterThan(20)
  expect(lines.flatMap(({ code }) => wrong(code, codeMistake))).toEqual([])
  expect(lines.flatMap(({ tests }) => wrong(tests, testMistake))).toEqual([])
})

test('no row claims to have run in a real Electron', () => {
  for (const { what, seen } of lines) expect(seen, what).toBe('not run in a real Electron')
})
