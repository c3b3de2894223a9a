import { expect, test } from 'vitest'
import { givesWay } from '../../../../../electron/core/renting/recovery/others.ts'

const at = (id: number, start: number) => ({ id, start_date: start })

test('of two replacements the younger gives way, whichever Berth polls first', () => {
  expect(givesWay(at(2, 200), at(1, 100))).toBe(true)
  expect(givesWay(at(1, 100), at(2, 200))).toBe(false)
})

test('where both began at once the higher id gives way, so that one of them stays', () => {
  expect(givesWay(at(2, 100), at(1, 100))).toBe(true)
  expect(givesWay(at(1, 100), at(2, 100))).toBe(false)
})

test('one that has not come yet gives way to one that is there', () => {
  expect(givesWay(undefined, at(1, 100))).toBe(true)
})
