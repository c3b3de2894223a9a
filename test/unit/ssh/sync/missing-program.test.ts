import { expect, test } from 'vitest'
import { syncFailed } from '#ssh/sync/sync-problems.ts'

test.each([
  ['sh: 1: sed: not found\n', 'sed'],
  ['sh: awk: not found', 'awk'],
  ['bash: line 12: stat: command not found\nsort: write failed\n', 'stat'],
])('where the machine says %j, %s is named as missing', (errorText, program) => {
  const { advice } = syncFailed('/workspace', errorText).problem
  expect(advice).toContain(`${program} is missing there: install it or use another image, then try again.`)
  expect(advice).not.toContain('permissions')
})

test.each([
  'mkdir: cannot create directory ‘a’: Permission denied',
  'a: file not found in the archive: b',
  '',
])('where it says %j, none is', errorText => {
  expect(syncFailed('/workspace', errorText).problem.advice).toContain(
    'Check the permissions, then try again.',
  )
})
