import { expect, test } from 'vitest'
import { gainWords } from '#renderer/screens/spending/lanes.ts'

test('the gain of ending an instance is a duration, and empty once the credit is used up', () => {
  expect(gainWords({ wins: 7200 }, false)).toBe('+2 h')
  expect(gainWords({ wins: 400 * 86_400 }, false)).toBe('Over a year')
  expect(gainWords({}, false)).toBe('Ends all spending')
  expect(gainWords({ wins: 0 }, true)).toBe('')
})
