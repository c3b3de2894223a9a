import { expect, test } from 'vitest'
import { creditChart, creditRows } from '#renderer/screens/account/credit/creditChart.ts'

const box = { width: 100, height: 50 }
const dollar = 1_000_000
const samples = [
  { at: 1000, credit: 20 * dollar },
  { at: 1500, credit: 10 * dollar },
  { at: 2000, credit: 40 * dollar },
]

test('the line goes from the first sample to the last, between zero and the highest', () => {
  const chart = creditChart(samples, 0, 2000, box)
  expect(chart).toMatchObject({ line: 'M0 25L50 37.5L100 0', zero: 50, now: 100 })
  expect(chart).toMatchObject({ highest: 40 * dollar, lowest: 10 * dollar })
  expect(chart?.area.endsWith('L100 50L0 50Z')).toBe(true)
  expect(chart?.forecast).toBeUndefined()
})

test('negative credit is drawn below the zero line', () => {
  const chart = creditChart(
    [
      { at: 1000, credit: 20 * dollar },
      { at: 1500, credit: -20 * dollar },
    ],
    0,
    1500,
    box,
  )
  expect(chart).toMatchObject({ line: 'M0 0L100 50', zero: 25 })
})

test('the last sample before the range gives its start', () => {
  const chart = creditChart(samples, 1250, 2000, box)
  expect(chart?.points[0]).toMatchObject({ x: 0, sample: { at: 1250, credit: 20 * dollar } })
})

test('a sample from long before the range is ignored', () => {
  const chart = creditChart([{ at: -50_000, credit: 90 * dollar }, ...samples], 500, 2000, box)
  expect(chart?.points[0]).toMatchObject({ x: 0, sample: { at: 1000, credit: 20 * dollar } })
})

test('gaps between polls interrupt the line, and a lone poll is a dot', () => {
  const chart = creditChart(
    [
      { at: 0, credit: 40 * dollar },
      { at: 300, credit: 30 * dollar },
      { at: 5000, credit: 20 * dollar },
      { at: 9700, credit: 20 * dollar },
      { at: 10_000, credit: 10 * dollar },
    ],
    0,
    10_000,
    box,
  )
  expect(chart?.line).toBe('M0 0L3 12.5M50 25L50 25M97 25L100 37.5')
  expect(chart?.area).toBe('M0 0L3 12.5L3 50L0 50ZM50 25L50 25L50 50L50 50ZM97 25L100 37.5L100 50L97 50Z')
  expect(chart?.points).toHaveLength(5)
})

test('fewer than two samples give no chart', () => {
  expect(creditChart([], 0, 2000, box)).toBeUndefined()
  expect(creditChart(samples.slice(0, 1), 0, 2000, box)).toBeUndefined()
})

test('the forecast continues at the current spending, for a third of the seen time', () => {
  const chart = creditChart(samples, 0, 2000, box, 36 * dollar)
  const end = chart?.points.at(-1)
  expect(end).toMatchObject({ x: 100, forecast: true })
  expect(end?.sample.at).toBeCloseTo(2000 + 1000 / 3)
  expect(end?.sample.credit).toBeCloseTo(40 * dollar - (36 * dollar * 1000) / 3 / 3600)
  expect(chart?.forecast?.startsWith(`M${chart.now} 0L100 `)).toBe(true)
})

test('the forecast ends where the credit does', () => {
  const end = creditChart(samples, 0, 2000, box, 40 * dollar * 36)?.points.at(-1)
  expect(end?.sample).toEqual({ at: 2100, credit: 0 })
})

test('the rows are hour ends, newest first, without the forecast', () => {
  const at = (at: number, credit: number) => ({ x: 0, sample: { at, credit } })
  const points = [
    at(3500, 9),
    at(3600, 8),
    at(3700, 7),
    at(7000, 5),
    { ...at(9000, 1), forecast: true as const },
  ]
  expect(creditRows(points, 3600)).toEqual([
    { at: 7000, credit: 5, change: -3 },
    { at: 3600, credit: 8, change: undefined },
  ])
})
