import { expect, test } from 'vitest'
import { creditSparkline } from '#renderer/frame/header/creditSparkline.ts'

const now = 1_790_000_000
const halfHour = 1800

test('a day’s credit is a line up to now, with gaps where nothing was polled', () => {
  const samples = [23, 22, 2].map(back => ({ at: now - back * halfHour - 60, spent: 0, credit: back * 1000 }))
  const line = creditSparkline([...samples, { at: now - halfHour - 60, spent: 0 }], now, 500)
  expect(line).toHaveLength(48)
  expect(line?.slice(-24)).toEqual([23_000, 22_000, ...new Array(19).fill(null), 2000, null, 500])
})

test('an account with too few samples has no line', () => {
  expect(creditSparkline([], now, 500)).toBeUndefined()
  expect(creditSparkline([{ at: now - 90_000, spent: 0, credit: 5 }], now, 500)).toBeUndefined()
  const lately = [1, 2, 3, 4].map(back => ({ at: now - back * halfHour - 60, spent: 0, credit: 5 }))
  expect(creditSparkline(lately, now, 500)).toBeUndefined()
})
