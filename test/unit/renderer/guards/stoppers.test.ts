import { expect, test } from 'vitest'
import type { GuardView } from '../../../../electron/contract/automation/guard.ts'
import { stoppersOf } from '../../../../electron/contract/automation/stoppers.ts'
import { stopperWords } from '../../../../renderer/features/guards/stopperWords.ts'
import { accountView, instanceView } from '../../views.ts'

const guard = (given: Partial<GuardView>): GuardView => ({
  id: 'g0000000000000001',
  condition: { kind: 'budget', per: 'day', limit: 660_000 },
  action: 'stop',
  warning: 900,
  missed: 'act',
  sentence: '',
  step: 'waiting',
  history: [],
  ...given,
})
const stoppers = (given: Partial<GuardView>, credit = 50_000_000) => {
  const account = accountView({ credit, guards: { one: guard(given) } }, instanceView())
  return stoppersOf(account, { instance: 4711, more: 600_000 }, 1000).map(stopperWords)
}

test('a budget that is reached stops what is started, unless it is snoozed or over', () => {
  expect(stoppers({ dueAt: 900 })).toEqual([
    'Today’s budget of $0.66 is reached: its guard stops it at the next look.',
  ])
  expect(stoppers({ dueAt: 1100 })).toEqual([])
  expect(stoppers({ dueAt: 900, snoozedUntil: 1100 })).toEqual([])
  expect(stoppers({ dueAt: 900, step: 'done' })).toEqual([])
})

test('credit that lasts too short a while only with what is started is seen before', () => {
  const condition = { kind: 'credit', hours: 6 } as const
  expect(stoppers({ condition }, 5_900_000)).toHaveLength(1)
  expect(stoppers({ condition }, 6_100_000)).toEqual([])
})

test('the guard of another instance stops nothing here', () => {
  const condition = { kind: 'cost', limit: 1_000_000 } as const
  expect(stoppers({ condition, instance: 4711, dueAt: 900 })).toHaveLength(1)
  expect(stoppers({ condition, instance: 4712, dueAt: 900 })).toEqual([])
})
