import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  defaultShortcuts,
  keysOf,
  keysWords,
  letterOf,
  type Pressed,
  type ShortcutName,
  shortcutConflict,
  shortcutOf,
} from '#shared/accelerators.ts'
import { Settings } from '#shared/settings.ts'

const pressed = (key: string, more: Partial<Pressed> = {}): Pressed => ({
  key,
  ctrlKey: true,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
})
const found = (key: string, more: Partial<Pressed> = {}) => shortcutOf(pressed(key, more), defaultShortcuts)

test('shortcuts are written as on each platform', () => {
  expect(keysWords(defaultShortcuts.palette, 'darwin')).toBe('⌘ K')
  expect(keysWords(defaultShortcuts.palette, 'linux')).toBe('Ctrl K')
})

test('pressed keys match exactly their shortcut, on any layout', () => {
  expect(found('k')).toBe('palette')
  expect(found('K', { shiftKey: true })).toBeUndefined()
  expect(found('k', { ctrlKey: false, metaKey: true })).toBe('palette')
  expect(found('1')).toBe('home')
  expect(found('&', { code: 'Digit1' })).toBe('home')
  expect(found('л', { code: 'KeyK' })).toBe('palette')
  expect(found('k', { altKey: true })).toBeUndefined()
  expect(found('k', { ctrlKey: false })).toBeUndefined()
  expect(found('M', { shiftKey: true })).toBe('maximise')
})

test('letters of other scripts stand for those at their place, signs for themselves', () => {
  expect(letterOf({ key: 'S', code: 'KeyS' })).toBe('s')
  expect(letterOf({ key: 'ы', code: 'KeyS' })).toBe('s')
  // Dvorak, whose keys are elsewhere.
  expect(letterOf({ key: 's', code: 'Semicolon' })).toBe('s')
  expect(letterOf({ key: '.', code: 'KeyE' })).toBe('.')
  expect(letterOf({ key: '/', code: 'Digit7' })).toBe('/')
})

test('keys that were pressed can be stored, and are found again', () => {
  const keys = fc.record({
    key: fc.constantFrom(...'aZ5,ß é', 'F5', 'Enter', 'Dead', 'Control', 'ArrowUp'),
    code: fc.constantFrom('', 'KeyQ', 'Digit7', 'Space'),
    ctrlKey: fc.boolean(),
    metaKey: fc.boolean(),
    shiftKey: fc.boolean(),
    altKey: fc.boolean(),
  })
  fc.assert(
    fc.property(keys, event => {
      const read = keysOf(event)
      if (read === undefined) return
      expect(v.is(Settings.entries.shortcuts, { ...defaultShortcuts, palette: read })).toBe(true)
      const none = Object.fromEntries(Object.keys(defaultShortcuts).map(name => [name, '']))
      expect(shortcutOf(event, { ...(none as typeof defaultShortcuts), palette: read as never })).toBe(
        'palette',
      )
    }),
  )
})

test('letters alone, and keys that have their own use, are no shortcuts', () => {
  expect(keysOf(pressed('k', { ctrlKey: false }))).toBeUndefined()
  expect(keysOf(pressed('Control'))).toBeUndefined()
  const conflict = (name: ShortcutName, keys: string) =>
    shortcutConflict({ ...defaultShortcuts, [name]: keys }, name, 'linux')
  expect(conflict('show', 'CmdOrCtrl+C')).toBe('Ctrl C already has its own use.')
  expect(conflict('show', 'F5')).toBe('F5 already has its own use.')
  expect(conflict('show', 'CmdOrCtrl+K')).toBe('Ctrl K already belongs to “Every command”.')
  expect(conflict('show', 'CmdOrCtrl+Alt+B')).toBeUndefined()
  expect(conflict('palette', '')).toBeUndefined()
  for (const name of Object.keys(defaultShortcuts) as ShortcutName[])
    expect(shortcutConflict(defaultShortcuts, name, 'linux')).toBeUndefined()
})
