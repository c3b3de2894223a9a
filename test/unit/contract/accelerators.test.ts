import { expect, test } from 'vitest'
import { acceleratorOf, accelerators, acceleratorWords } from '../../../electron/contract/app/accelerators.ts'

const pressed = (key: string, more: Partial<Parameters<typeof acceleratorOf>[0]> = {}) => ({
  key,
  ctrlKey: true,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
})

test('keys are said as each platform writes them', () => {
  expect(acceleratorWords('palette', 'darwin')).toBe('⌘ K')
  expect(acceleratorWords('palette', 'linux')).toBe('Ctrl K')
})

test('a key is the accelerator it is written as, and no other', () => {
  expect(acceleratorOf(pressed('k'))).toBe('palette')
  expect(acceleratorOf(pressed('K', { shiftKey: true }))).toBeUndefined()
  expect(acceleratorOf(pressed('k', { ctrlKey: false, metaKey: true }))).toBe('palette')
  expect(acceleratorOf(pressed('1'))).toBe('home')
  expect(acceleratorOf(pressed('k', { altKey: true }))).toBeUndefined()
  expect(acceleratorOf(pressed('k', { ctrlKey: false }))).toBeUndefined()
})

test('no two have the same keys', () => {
  const all = Object.values(accelerators)
  expect(new Set(all).size).toBe(all.length)
})
