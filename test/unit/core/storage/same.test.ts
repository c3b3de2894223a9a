import { expect, test } from 'vitest'
import { isDeepEqual } from '#core/storage/same.ts'

const nested = (depth: number): unknown => (depth === 0 ? 1 : { in: nested(depth - 1) })

test('values nested too deeply count as different, without a stack overflow', () => {
  expect(isDeepEqual(nested(50), nested(50))).toBe(true)
  let deep: unknown = 1
  let twin: unknown = 1
  for (let level = 0; level < 100_000; level += 1) {
    deep = { in: deep }
    twin = { in: twin }
  }
  expect(isDeepEqual(deep, twin)).toBe(false)
})
