import { expect, test } from 'vitest'
import { dueWords } from '#renderer/features/limits/limitWords.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

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
    /^At .*, in 1 min, if it runs by then\.$/,
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

test('a limit that cannot act promises nothing beyond its moment', () => {
  const idle = { ...due, when: { kind: 'idle', below: 5, seconds: 60 } as const }
  expect(dueWords(due, now, running, true)).toMatch(/^Due since [^;]*\.$/)
  expect(dueWords({ ...due, dueAt: now + 3600 }, now, running, true)).toMatch(/^At .*, in 1 h\.$/)
  expect(dueWords({ ...idle, dueAt: now + 60 }, now, running, true)).toBe('')
  expect(dueWords({ ...idle, dueAt: undefined }, now, stopped, true)).toBe('')
})

test('an idle limit counts only while the instance runs', () => {
  const idle = { ...due, dueAt: undefined, when: { kind: 'idle', below: 5, seconds: 60 } as const }
  expect(dueWords(idle, now, stopped)).toBe('Active once the instance runs.')
  expect(dueWords(idle, now, running)).toBe('It isn’t idle right now.')
})
