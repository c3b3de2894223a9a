import { expect, test } from 'vitest'
import { nextMoment } from '#core/limits/decide.ts'
import type { StoredLimit } from '#core/limits/model.ts'

const limit: StoredLimit = {
  id: 'g0000000000000001',
  instance: 7,
  when: { kind: 'time', at: 100 },
  action: 'stop',
  warning: 30,
  warnedAt: 70,
  missed: 'act',
  asleep: false,
  setAt: 0,
  history: [],
}

test('a due time that passed since the last poll stays next until a poll has seen it', () => {
  expect(nextMoment(limit, 100, 99, 99)).toBe(100)
  expect(nextMoment(limit, 100, 101, 99)).toBe(100)
  expect(nextMoment(limit, 100, 101, 100)).toBeUndefined()
})

test('a retry that passed since the last poll stays next too', () => {
  expect(nextMoment({ ...limit, retryAt: 110 }, 100, 111, 105)).toBe(110)
})

test('a pending warning is next at its time, or now if that has passed', () => {
  const { warnedAt: _, ...unwarned } = limit
  expect(nextMoment(unwarned, 100, 60, 60)).toBe(70)
  expect(nextMoment(unwarned, 100, 80, 80)).toBe(80)
})
