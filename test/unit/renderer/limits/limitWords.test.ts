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
  expect(previewMoment('duration', 4 * 3600, 0, [])).toBe('In 4 h.')
  expect(previewMoment('cost', 4 * 3600, 0, [])).toMatch(/^At the current rate: at .+, in 4 h\.$/)
})

test('a moment by costs goes by the agreed prices where an accepted one begins before', () => {
  const spent = { micros: 0, at: 0, perHour: 400_000, rise: { at: 7200, perHour: 600_000 } }
  const instance = instanceView({ id: 7, spent })
  expect(previewMoment('cost', 4 * 3600, 0, [instance])).toMatch(/^At the agreed prices: /)
  expect(previewMoment('cost', 3600, 0, [instance])).toMatch(/^At the current rate: /)
  const limit = { when: { kind: 'cost', dollars: 2 }, step: 'waiting', action: 'stop' } as const
  const words = (instance?: number) =>
    dueWords({ ...limit, instance, dueAt: 4 * 3600 }, 0, accountView({}, instanceView({ id: 7, spent })))
  expect([words(7), words()].join()).not.toContain('current rate')
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

const now = 1_800_000_000
const due = {
  instance: 7,
  step: 'waiting' as const,
  action: 'stop' as const,
  dueAt: now - 60,
  when: { kind: 'time' as const, at: now - 60 },
}
const running = accountView({}, instanceView({ id: 7, state: 'running' }))
const stopped = accountView({}, instanceView({ id: 7, state: 'stopped' }))

test('a limit that is due says why it has not acted yet', () => {
  expect(dueWords(due, now, running)).toMatch(/^Due since .*; it acts at the next poll\.$/)
  expect(dueWords(due, now, stopped)).toBe('Reached, but no running instance to stop.')
  expect(dueWords({ ...due, dueAt: now + 60 }, now, stopped)).toMatch(
    /^Stops in 1 min, if it runs by then\.$/,
  )
  const budget = { ...due, when: { kind: 'budget' as const, per: 'day' as const, dollars: 1 } }
  expect(dueWords(budget, now, { ...running, creditAt: now - 900 })).toMatch(/; waiting for the credit\.$/)
  const { instance: _, ...whole } = due
  expect(dueWords(whole, now, running)).toMatch(/it acts at the next poll/)
  // A waiting instance will be charged again, so the limit stops it.
  const waiting = accountView({}, instanceView({ id: 7, state: 'waiting' }))
  expect(dueWords(whole, now, waiting)).toMatch(/it acts at the next poll/)
  expect(dueWords({ ...due, action: 'destroy' }, now, stopped)).toMatch(/it acts at the next poll/)
})

test('a limit’s moment comes with what it does then', () => {
  const later = { ...due, dueAt: now + 3600, action: 'destroy' as const }
  expect(dueWords(later, now, running)).toBe('Destroys it in 1 h.')
  const cost = { ...later, action: 'stop' as const, when: { kind: 'cost' as const, dollars: 5 } }
  expect(dueWords(cost, now, running)).toMatch(/^Stops at .+, in 1 h, at the current rate\.$/)
})

test('a limit that cannot act promises nothing beyond its moment', () => {
  const idle = { ...due, when: { kind: 'idle', below: 5, seconds: 60 } as const }
  expect(dueWords(due, now, running, true)).toMatch(/^Due since [^;]*\.$/)
  expect(dueWords({ ...due, dueAt: now + 3600 }, now, running, true)).toMatch(/^Stops in 1 h\.$/)
  expect(dueWords({ ...idle, dueAt: now + 60 }, now, running, true)).toBe('')
  expect(dueWords({ ...idle, dueAt: undefined }, now, stopped, true)).toBe('')
})

test('an idle limit counts only while the instance runs', () => {
  const idle = { ...due, dueAt: undefined, when: { kind: 'idle', below: 5, seconds: 60 } as const }
  expect(dueWords(idle, now, stopped)).toBe('Active once the instance runs.')
  expect(dueWords(idle, now, running)).toBe('It isn’t idle right now.')
})
