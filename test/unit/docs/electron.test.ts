import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeMistake, testMistake, wrong } from './named-things.ts'

const [text = ''] = readFileSync('docs/electron.md', 'utf8').split('\n## ')

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

test('every row says whether it was seen in a real Electron; only those with a spec were', () => {
  for (const { what, tests, seen } of lines) {
    expect(['read', 'seen in Electron 33'], what).toContain(seen)
    if (seen !== 'read') expect(tests.join(), what).toContain('`electron/specs/')
  }
})
