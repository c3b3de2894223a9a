import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeMistake, wrong } from './named-things.ts'

test('the two paths name code that exists', () => {
  const [, section = ''] = readFileSync('docs/architecture.md', 'utf8').split('### Two paths, file by file')
  const [paths = ''] = section.split('\n### ')
  const named = paths.match(/`[^`#\n]+#[^`]+`/g) ?? []
  expect(named.length).toBeGreaterThan(25)
  expect(wrong(named, codeMistake)).toEqual([])
})
