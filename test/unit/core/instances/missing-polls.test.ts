import { expect, test } from 'vitest'
import { MissingPolls } from '#core/instances/missing-instances.ts'

const polls = new MissingPolls()
const poll = (...there: number[]) => polls.next(id => there.includes(id))

test('polls count once each, from the first one that was asked about', () => {
  poll()
  const first = poll()
  expect([first(1), first(1)]).toEqual([1, 1])
  expect(poll()(1)).toBe(2)
})

test('the count restarts once the instance is back, even if nobody waits', () => {
  expect(poll(1)(1)).toBe(0)
  expect(poll()(1)).toBe(1)
  poll(1)
  expect(poll()(1)).toBe(1)
})

test('a poll that nobody waits for doesn’t count', () => {
  expect(poll()(2)).toBe(1)
  poll()
  expect(poll()(2)).toBe(2)
})
