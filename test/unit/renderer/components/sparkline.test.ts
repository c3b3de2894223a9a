import { expect, test } from 'vitest'
import { extent, sinceWhen, sparkline } from '#renderer/components/charts/sparkline.ts'

test('a line connects the values over an area down to the bottom', () => {
  expect(sparkline([0, 50, 100], 100, 20)).toEqual({
    line: 'M0 20L1 10L2 0',
    area: 'M0 20L1 10L2 0L2 20L0 20Z',
  })
})

test('unknown values are gaps, and a lone value is a dot', () => {
  expect(sparkline([null, 100, null, null, 50, 50], 100, 20)).toEqual({
    line: 'M1 0h0M4 10L5 10',
    area: 'M1 0L1 20L1 20ZM4 10L5 10L5 20L4 20Z',
  })
})

test('values out of range are drawn on the edge', () => {
  expect(sparkline([-5, 400], 100, 10).line).toBe('M0 10L1 0')
})

test('the extent is that of the known values', () => {
  expect(extent([null, 40, 90, null])).toEqual({ last: 90, lowest: 40, highest: 90 })
  expect(extent([null])).toBeUndefined()
})

test('a course of a few minutes says since when it is known; a longer one is a line', () => {
  const hour = (known: number) => [...Array(60 - known).fill(null), ...Array(known).fill(50)]
  expect(sinceWhen(hour(1), 600)).toBe(600)
  expect(sinceWhen(hour(9), 600)).toBe(120)
  expect(sinceWhen(hour(10), 600)).toBeUndefined()
  expect(sinceWhen(hour(0), 600)).toBeUndefined()
})
