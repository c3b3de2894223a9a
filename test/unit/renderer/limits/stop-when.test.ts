import { expect, test } from 'vitest'
import { stopOf, stopSentence, stopWords, usualStops, withStop } from '#renderer/features/limits/stopWhen.ts'

const { idle, duration, cost } = usualStops

test('stops have a fixed order, one of each kind', () => {
  const two = withStop(withStop([], 'cost', cost), 'idle', idle)
  expect(two).toEqual([idle, cost])
  expect(withStop(two, 'cost', { kind: 'cost', dollars: 5 })).toEqual([idle, { kind: 'cost', dollars: 5 }])
  expect(withStop(two, 'idle', undefined)).toEqual([cost])
  expect(stopOf(two, 'duration')).toBeUndefined()
})

test('each stop has a short and a full text', () => {
  expect([idle, duration, cost].map(stopWords)).toEqual(['30 min idle', '8 h', '$20'])
  expect([idle, duration, cost].map(stopSentence)).toEqual([
    'Stops when GPU load stays below 5 % for 30 min',
    'Stops 8 h after it was rented',
    'Stops once it has cost $20',
  ])
})
