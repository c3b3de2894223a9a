import { expect, test } from 'vitest'
import {
  durationChoices,
  endsWhen,
  stopLimit,
  whenOf,
  withLimit,
} from '#renderer/features/limits/rentalLimits.ts'
import type { LimitWhen } from '#shared/automation/limit.ts'
import { defaultLimits } from '#shared/automation/limit-defaults.ts'
import { conditionLabel, stopSentence } from '#shared/automation/limit-words.ts'

const { idle, duration, cost } = defaultLimits

test('stops have a fixed order, one of each kind', () => {
  const two = withLimit(withLimit([], 'cost', cost), 'idle', idle)
  const asleep = (when: LimitWhen) => ({ ...stopLimit(when), asleep: true })
  expect(two).toEqual([asleep(idle), asleep(cost)])
  const five = { kind: 'cost', dollars: 5 } as const
  expect(withLimit(two, 'cost', five)).toEqual([asleep(idle), asleep(five)])
  expect(withLimit(two, 'idle', undefined)).toEqual([asleep(cost)])
  // Whoever did without a watchdog does so for another one, too.
  expect(withLimit([stopLimit(idle)], 'cost', five)).toEqual([stopLimit(idle), stopLimit(five)])
  expect(whenOf(two, 'duration')).toBeUndefined()
})

test('what comes before the conditions says whether they stop or destroy', () => {
  expect(endsWhen([])).toBe('Stop when')
  expect(endsWhen([stopLimit(duration)])).toBe('Stop when')
  expect(endsWhen([{ ...stopLimit(duration), action: 'destroy' }])).toBe('Destroy when')
})

test('each stop has a short and a full text', () => {
  expect([idle, duration, cost].map(conditionLabel)).toEqual(['30 min idle', '8 h', '$20'])
  expect([idle, duration, cost].map(when => stopSentence({ when }))).toEqual([
    'Stops when its GPU load stays below 5% for 30 min',
    'Stops 8 h after renting',
    'Stops when it has cost $20.00',
  ])
})

test('the usual hours are a click away, and the chosen ones among them', () => {
  const hours = (seconds: number) => durationChoices([stopLimit({ kind: 'duration', seconds })])
  const inHours = (choices: ReturnType<typeof durationChoices>) =>
    choices.map(({ seconds }) => seconds / 3600)
  expect(inHours(durationChoices([]))).toEqual([1, 3, 8])
  expect(inHours(hours(3 * 3600))).toEqual([1, 3, 8])
  expect(inHours(hours(5 * 3600))).toEqual([1, 3, 5, 8])
})
