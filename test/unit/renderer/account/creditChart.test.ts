import { expect, test } from 'vitest'
import { creditChart, nearest } from '../../../../renderer/screens/account/credit/creditChart.ts'

const box = { width: 100, height: 50 }
const samples = [
  { at: 1000, credit: 20 },
  { at: 1500, credit: 10 },
  { at: 2000, credit: 40 },
]

test('the line goes from the first sample to the last, highest at the top and nothing at the bottom', () => {
  const chart = creditChart(samples, 0, 2000, box)
  expect(chart).toMatchObject({ line: 'M0 25L50 37.5L100 0', zero: 50, highest: 40, lowest: 10 })
  expect(chart?.area.endsWith('L100 50L0 50Z')).toBe(true)
})

test('a credit below nothing is drawn below the line of nothing', () => {
  const chart = creditChart([samples[0] ?? { at: 0, credit: 0 }, { at: 2000, credit: -20 }], 0, 2000, box)
  expect(chart?.zero).toBe(25)
  expect(chart?.points.at(-1)?.y).toBe(50)
})

test('what was before the time shown gives its beginning', () => {
  const chart = creditChart(samples, 1250, 2000, box)
  expect(chart?.points[0]).toMatchObject({ x: 0, sample: { at: 1250, credit: 20 } })
})

test('with fewer than two samples there is nothing to draw', () => {
  expect(creditChart([], 0, 2000, box)).toBeUndefined()
  expect(creditChart(samples.slice(0, 1), 0, 2000, box)).toBeUndefined()
})

test('a place across the picture finds the sample nearest to it', () => {
  const chart = creditChart(samples, 0, 2000, box)
  expect(chart && nearest(chart, 70)?.sample.at).toBe(1500)
  expect(chart && nearest(chart, 80)?.sample.at).toBe(2000)
})
