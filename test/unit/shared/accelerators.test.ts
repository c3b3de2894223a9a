import { expect, test } from 'vitest'
import { acceleratorOf, accelerators, acceleratorWords } from '#shared/accelerators.ts'

const pressed = (key: string, more: Partial<Parameters<typeof acceleratorOf>[0]> = {}) => ({
  key,
  ctrlKey: true,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
})

test('shortcuts are written as on each platform', () => {
  expect(acceleratorWords('palette', 'darwin')).toBe('⌘ K')
  expect(acceleratorWords('palette', 'linux')).toBe('Ctrl K')
})

test('a pressed key matches exactly its accelerator', () => {
  expect(acceleratorOf(pressed('k'))).toBe('palette')
  expect(acceleratorOf(pressed('K', { shiftKey: true }))).toBeUndefined()
  expect(acceleratorOf(pressed('k', { ctrlKey: false, metaKey: true }))).toBe('palette')
  expect(acceleratorOf(pressed('1'))).toBe('home')
  expect(acceleratorOf(pressed('k', { altKey: true }))).toBeUndefined()
  expect(acceleratorOf(pressed('k', { ctrlKey: false }))).toBeUndefined()
})

test('no two accelerators share their keys', () => {
  const all = Object.values(accelerators)
  expect(new Set(all).size).toBe(all.length)
})
