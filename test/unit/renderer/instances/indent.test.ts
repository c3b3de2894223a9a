import { expect, test } from 'vitest'
import { indentOf } from '#renderer/screens/instances/files/codeEditor.ts'

test('the indentation is the file’s own, else the usual one for its type', () => {
  expect(indentOf('a:\n   b: 1\n', 'a.yaml')).toBe('   ')
  expect(indentOf('all:\n\tcc x.c\n', 'Makefile')).toBe('\t')
  expect(indentOf('', 'Makefile')).toBe('\t')
  expect(indentOf('import x\n\n', 'a.py')).toBe('    ')
  expect(indentOf('{}', 'a.json')).toBe('  ')
})
