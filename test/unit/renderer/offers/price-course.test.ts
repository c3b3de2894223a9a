import { expect, test } from 'vitest'
import { priceCourse, priceWords } from '#renderer/screens/offers/watches/priceCourse.ts'

const hour = 3600
const sample = (at: number, lowest: number) => ({
  at,
  count: 8,
  lowest,
  low: lowest + 100_000,
  middle: lowest + 200_000,
  high: lowest + 400_000,
})

test('the chart has the middle half as a band, the median, the lowest price and round marks', () => {
  const course = priceCourse([sample(0, 1_000_000), sample(hour, 1_600_000)], { width: 100, height: 100 })
  // From $1.000 to $2.000, so $0.010 is one unit.
  expect(course?.prices.map(({ value }) => value)).toEqual([1, 1.5, 2].map(price => price * 1_000_000))
  expect(course?.lowest).toBe('M0 100L100 40')
  expect(course?.middle).toBe('M0 80L100 20')
  expect(course?.band).toBe('M0 60L100 0L100 30L0 90Z')
  expect(course?.points.map(({ x }) => x)).toEqual([0, 100])
})

test('hours without a search are gaps', () => {
  const course = priceCourse(
    [0, 1, 9, 10].map(at => sample(at * hour, 1_000_000)),
    { width: 100, height: 100 },
  )
  expect(course?.lowest.match(/M/g)).toHaveLength(2)
  expect(course?.band.match(/Z/g)).toHaveLength(2)
  expect(course?.lowest).toMatch(/^M0 \d+L10 \d+M90 \d+L100 \d+$/)
})

test('a single search gives no chart', () => {
  expect(priceCourse([sample(0, 1_000_000)], { width: 100, height: 100 })).toBeUndefined()
})

test('a search is summed up as lowest, median, middle half and count', () => {
  expect(priceWords(sample(0, 1_000_000))).toBe(
    'lowest $1.000/h, median $1.200/h, half between $1.100/h and $1.400/h, 8 offers',
  )
  const same = { lowest: 900_000, low: 900_000, middle: 900_000, high: 900_000 }
  expect(priceWords({ at: 0, count: 2, ...same })).toBe(
    'lowest $0.900/h, median $0.900/h, half at $0.900/h, 2 offers',
  )
  expect(priceWords({ at: 0, count: 1, ...same })).toBe('the one offer $0.900/h')
})
