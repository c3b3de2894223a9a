import { expect, test } from 'vitest'
import { indentOf } from '../../../../renderer/screens/instances/files/editor/indent.ts'

test('a step of indentation is the one that the file has, else the one usual in such a file', () => {
  expect(indentOf('a:\n   b: 1\n', 'a.yaml')).toBe('   ')
  expect(indentOf('all:\n\tcc x.c\n', 'Makefile')).toBe('\t')
  expect(indentOf('', 'Makefile')).toBe('\t')
  expect(indentOf('import x\n\n', 'a.py')).toBe('    ')
  expect(indentOf('{}', 'a.json')).toBe('  ')
})
