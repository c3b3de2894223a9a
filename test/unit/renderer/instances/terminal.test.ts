import { expect, test } from 'vitest'
import { fontStack } from '#renderer/features/instances/font.ts'
import { spansOf } from '#renderer/screens/instances/details/spans.ts'
import { pageKeyOf } from '#renderer/screens/instances/terminal/keys.ts'
import { retryIn, wantsUser } from '#renderer/screens/instances/terminal/session.svelte.ts'

const key = (
  name: string,
  held: Partial<Record<'ctrlKey' | 'shiftKey' | 'metaKey' | 'altKey', true>> = {},
) => ({
  key: name,
  ctrlKey: false,
  shiftKey: false,
  metaKey: false,
  altKey: false,
  ...held,
})

test('the shell keeps its own keys', () => {
  for (const letter of ['c', 'v', 'f', 'k', 'r', 'ArrowUp'])
    expect(pageKeyOf(key(letter, { ctrlKey: true }), false)).toBeUndefined()
  expect(pageKeyOf(key('c', { ctrlKey: true }), true)).toBeUndefined()
})

test('copy, paste, search and leave have keys on each platform', () => {
  const linux = (name: string) => pageKeyOf(key(name, { ctrlKey: true, shiftKey: true }), false)
  const mac = (name: string) => pageKeyOf(key(name, { metaKey: true }), true)
  const wanted = ['copy', 'paste', 'search', 'leave']
  expect(['C', 'V', 'F', 'ArrowUp'].map(linux)).toEqual(wanted)
  expect(['c', 'v', 'f', 'ArrowUp'].map(mac)).toEqual(wanted)
  // A Cyrillic letter, on the key of C.
  expect(pageKeyOf({ ...key('С', { ctrlKey: true, shiftKey: true }), code: 'KeyC' }, false)).toBe('copy')
})

test('a lost connection is retried for ever, at growing intervals of up to 30 seconds', () => {
  const lost = { code: 'ssh_closed', message: '' }
  expect([0, 1, 4, 5, 6, 1000].map(attempts => retryIn(lost, attempts))).toEqual([1, 2, 15, 30, 30, 30])
})

test.each(['host_key_changed', 'host_key_known_elsewhere', 'key_refused', 'no_such_instance'])(
  '%s waits for the user',
  code => {
    expect(retryIn({ code, message: '' }, 0)).toBeUndefined()
  },
)

test('the history fills the bar from its first change until now', () => {
  const spans = spansOf(
    [
      { at: 100, state: 'loading', actualStatus: 'loading' },
      { at: 125, state: 'running', actualStatus: 'running' },
    ],
    200,
  )
  expect(spans.map(({ from, width, lasted }) => [from, width, lasted])).toEqual([
    [0, 0.25, 25],
    [0.25, 0.75, 75],
  ])
  expect(spansOf([], 5)).toEqual([])
})

test('a shell reconnects with its instance, but not past a changed host key', () => {
  expect(wantsUser({ code: 'not_running', message: '' })).toBe(false)
  for (const code of ['host_key_changed', 'host_key_known_elsewhere'])
    expect(wantsUser({ code, message: '' })).toBe(true)
})

test.each([
  ['', '"JetBrains Mono Variable", monospace'],
  ['Fira Code', '"Fira Code", "JetBrains Mono Variable", monospace'],
  [
    ` "Fira Code" ,, 'Hack', Hack, monospace`,
    '"Fira Code", "Hack", monospace, "JetBrains Mono Variable", monospace',
  ],
  [`a"'b`, '"ab", "JetBrains Mono Variable", monospace'],
])('the font list %j becomes quoted names with Berth’s own last', (list, stack) => {
  expect(fontStack(list)).toBe(stack)
})
