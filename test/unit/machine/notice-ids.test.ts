import { expect, test } from 'vitest'
import { activatedId, groupOf } from '#machine/notice-ids.ts'

test('the notices of an instance share a group', () => {
  expect(groupOf('a00000001/4711')).toBe('a00000001/4711')
  expect(groupOf('a00000001/4711/limit/g1')).toBe('a00000001/4711')
  expect(groupOf('pause')).toBe('pause')
})

test.each([
  ['type=click&tag=a00000001/4711', 'a00000001/4711'],
  ['type=action&action=0&tag=a00000001%2F4711', 'a00000001/4711'],
  ['type=click', undefined],
  ['', undefined],
])('the activation %s is of the notice %s', (text, id) => expect(activatedId(text)).toBe(id))
