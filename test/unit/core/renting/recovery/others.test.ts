import { expect, test } from 'vitest'
import { givesWay } from '#core/renting/recovery/others.ts'

const at = (id: number, start: number) => ({ id, start_date: start })

test('of two replacements the younger gives way, whichever Berth polls first', () => {
  expect(givesWay(at(2, 200), at(1, 100))).toBe(true)
  expect(givesWay(at(1, 100), at(2, 200))).toBe(false)
})

test('of two that started at once the one with the higher id gives way', () => {
  expect(givesWay(at(2, 100), at(1, 100))).toBe(true)
  expect(givesWay(at(1, 100), at(2, 100))).toBe(false)
})

test('a replacement that does not exist yet gives way to one that does', () => {
  expect(givesWay(undefined, at(1, 100))).toBe(true)
})
