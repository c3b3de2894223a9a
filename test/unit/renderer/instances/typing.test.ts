import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Typing } from '#renderer/screens/instances/terminal/session.svelte.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a key is sent at once, and fast typing in order after a short delay', () => {
  const sent: string[] = []
  const typing = new Typing(bytes => sent.push(new TextDecoder().decode(bytes)))
  for (const key of 'abcd') typing.take(new TextEncoder().encode(key))
  expect(sent).toEqual(['a'])
  vi.advanceTimersByTime(4)
  expect(sent).toEqual(['a', 'bcd'])
  typing.take(new TextEncoder().encode('e'))
  vi.advanceTimersByTime(100)
  expect(sent).toEqual(['a', 'bcd', 'e'])
  typing.take(new TextEncoder().encode('f'))
  expect(sent).toEqual(['a', 'bcd', 'e', 'f'])
  vi.advanceTimersByTime(100)
  expect(vi.getTimerCount()).toBe(0)
})
