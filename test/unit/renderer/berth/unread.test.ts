import { expect, test } from 'vitest'
import { unreadWords } from '#renderer/berth/stateWords.ts'

test('unreadable items are counted', () => {
  expect(unreadWords(1, 'offer')).toBe('1 offer couldn’t be read and is left out.')
  expect(unreadWords(1200, 'key')).toBe('1,200 keys couldn’t be read and are left out.')
})
