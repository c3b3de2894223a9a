import { expect, test } from 'vitest'
import { stopOf, stopOn, withStop } from '#renderer/features/limits/stops.ts'
import { defaultStops } from '#shared/automation/limit-defaults.ts'
import { conditionLabel, stopSentence } from '#shared/automation/limit-words.ts'

const { idle, duration, cost } = defaultStops

test('stops have a fixed order, one of each kind', () => {
  const two = withStop(withStop([], 'cost', cost), 'idle', idle)
  expect(two).toEqual([stopOn(idle), stopOn(cost)])
  const five = { kind: 'cost', dollars: 5 } as const
  expect(withStop(two, 'cost', five)).toEqual([stopOn(idle), stopOn(five)])
  expect(withStop(two, 'idle', undefined)).toEqual([stopOn(cost)])
  expect(stopOf(two, 'duration')).toBeUndefined()
})

test('each stop has a short and a full text', () => {
  expect([idle, duration, cost].map(conditionLabel)).toEqual(['30 min idle', '8 h', '$20'])
  expect([idle, duration, cost].map(when => stopSentence({ when }))).toEqual([
    'Stops when its GPU load stays below 5% for 30 min',
    'Stops 8 h after renting',
    'Stops when it has cost $20.00',
  ])
})
