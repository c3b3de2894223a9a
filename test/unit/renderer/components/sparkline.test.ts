import { expect, test } from 'vitest'
import { extent, sparkline } from '../../../../renderer/components/charts/sparkline.ts'

test('a line goes from value to value, over an area that ends on the ground', () => {
  expect(sparkline([0, 50, 100], 100, 20)).toEqual({
    line: 'M0 20L1 10L2 0',
    area: 'M0 20L1 10L2 0L2 20L0 20Z',
  })
})

test('nothing is drawn across what is not known, and one value alone is a dot', () => {
  expect(sparkline([null, 100, null, null, 50, 50], 100, 20)).toEqual({
    line: 'M1 0h0M4 10L5 10',
    area: 'M1 0L1 20L1 20ZM4 10L5 10L5 20L4 20Z',
  })
})

test('what is beyond the picture is drawn on its edge', () => {
  expect(sparkline([-5, 400], 100, 10).line).toBe('M0 10L1 0')
})

test('the figures beside it are those that are known', () => {
  expect(extent([null, 40, 90, null])).toEqual({ last: 90, lowest: 40, highest: 90 })
  expect(extent([null])).toBeUndefined()
})
