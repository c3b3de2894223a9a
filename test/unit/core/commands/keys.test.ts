import { expect, test } from 'vitest'
import { keyViews, newKey } from '#core/commands/keys.ts'

test('a service that lists whole secrets does not make them be shown', () => {
  const views = keyViews([{ id: 1, key: 'abcdefgh12345678' }], undefined)
  expect(views).toEqual([{ id: 1, masked: '…5678' }])
})

test('Berth’s key is marked by its last characters, unless another key ends alike', () => {
  const keys = [
    { id: 1, key: '****5678' },
    { id: 2, key: '****9999' },
  ]
  expect(keyViews(keys, 'secret-5678').map(({ inUse }) => inUse)).toEqual([true, undefined])
  const alike = [...keys, { id: 3, key: '****5678' }]
  expect(keyViews(alike, 'secret-5678').some(({ inUse }) => inUse)).toBe(false)
  expect(keyViews([{ id: 4 }], 'secret').some(({ inUse }) => inUse)).toBe(false)
})

test('permissions are listed by category, with or without the outer `api`', () => {
  const made = { id: 1, key: 'k' }
  expect(newKey({ ...made, permissions: { api: { misc: {} } } }).permissions).toEqual({ misc: {} })
  expect(newKey({ ...made, permissions: { misc: {} } }).permissions).toEqual({ misc: {} })
  expect(newKey({ ...made, permissions: false }).permissions).toBe(false)
  expect(newKey(made).permissions).toBe(false)
})
