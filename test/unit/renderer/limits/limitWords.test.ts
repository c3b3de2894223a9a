import { expect, test } from 'vitest'
import { dueWords, limitHint, previewMoment } from '#renderer/features/limits/limitWords.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

test('the cost limit’s hint counts what the instance has cost up to now', () => {
  const instance = instanceView({ costPerHour: 400_000, spent: { micros: 0, at: 0, perHour: 400_000 } })
  expect(limitHint('cost', instance, 0)).toContain('$0.00 so far, now $0.400/h')
  expect(limitHint('cost', instance, 900)).toContain('$0.10 so far')
})

test('a budget’s hint says how long started instances are stopped too', () => {
  expect(limitHint('day', undefined, 0)).toContain('later that day')
  expect(limitHint('month', undefined, 0)).toContain('later that month')
})

test('the preview names the time only for limits whose sentence does not', () => {
  expect(previewMoment('duration', 4 * 3600, 0)).toBe('In 4 h.')
  expect(previewMoment('cost', 4 * 3600, 0)).toMatch(/^At the current rate: at .+, in 4 h\.$/)
})

test('a limit without spending data says so', () => {
  const unseen = instanceView({ id: 7, costPerHour: 0, costUnknown: true })
  const words = (...instances: (typeof unseen)[]) =>
    dueWords(
      { when: { kind: 'credit', hours: 6 }, step: 'waiting', action: 'stop' },
      0,
      accountView({}, ...instances),
    )
  expect(words(unseen)).toBe('Unknown: the service doesn’t report all spending.')
  expect(words(instanceView())).toBe('It isn’t reached at the current rate.')
  expect(limitHint('cost', unseen, 0)).toBe('The service doesn’t report its cost.')
})
