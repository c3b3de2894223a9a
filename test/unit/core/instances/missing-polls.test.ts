import { expect, test } from 'vitest'
import { MissingPolls } from '../../../../electron/core/instances/missing-polls.ts'

const polls = new MissingPolls()
const poll = (...there: number[]) => polls.next(id => there.includes(id))

test('a poll counts once, however many ask, and only from the first that asked', () => {
  poll()
  const first = poll()
  expect([first(1), first(1)]).toEqual([1, 1])
  expect(poll()(1)).toBe(2)
})

test('one that is there, or may be, is counted anew, even where nobody asked then', () => {
  expect(poll(1)(1)).toBe(0)
  expect(poll()(1)).toBe(1)
  poll(1)
  expect(poll()(1)).toBe(1)
})

test('a poll in which nobody asked does not count', () => {
  expect(poll()(2)).toBe(1)
  poll()
  expect(poll()(2)).toBe(2)
})
