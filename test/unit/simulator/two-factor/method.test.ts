import { expect, test } from 'vitest'
import {
  attempts,
  countFailure,
  countSuccess,
  type Method,
  methodRecord,
  refuseLocked,
} from '#simulator/world/two-factor/method.ts'

const MINUTE = 60_000

function method(): Method {
  return {
    kind: 'sms',
    phoneNumber: '+15551230001',
    id: 1,
    label: '',
    isPrimary: true,
    failCount: 0,
    lockedUntil: null,
    createdAt: 0,
    lastUsed: 0,
  }
}

function failed(times: number, now: number): Method {
  const made = method()
  for (let time = 0; time < times; time++) countFailure(made, now)
  return made
}

test('four failures in a row do not lock a method, the fifth does', () => {
  expect(attempts(failed(4, 0), 0)).toEqual({ fail_count: 4, locked_until: null })
  expect(() => refuseLocked(failed(4, 0), 0)).not.toThrow()
  expect(attempts(failed(5, 0), 0)).toEqual({ fail_count: 5, locked_until: 15 * 60 })
  expect(() => refuseLocked(failed(5, 0), 0)).toThrow(/locked/)
})

test('a lockout ends after 15 minutes, and counting starts over', () => {
  const locked = failed(5, 0)
  expect(() => refuseLocked(locked, 15 * MINUTE - 1)).toThrow()
  expect(() => refuseLocked(locked, 15 * MINUTE)).not.toThrow()
  countFailure(locked, 15 * MINUTE)
  expect(attempts(locked, 15 * MINUTE)).toEqual({ fail_count: 1, locked_until: null })
})

test('a success resets the failures', () => {
  const used = failed(4, 0)
  countSuccess(used, 5000)
  expect(attempts(used, 5000)).toEqual({ fail_count: 0, locked_until: null })
  expect(methodRecord(used, 9, 5000)).toMatchObject({ user_id: 9, last_used: 5 })
})

test('of a number the last four digits show', () => {
  expect(methodRecord(method(), 9, 0)['phone_number']).toBe('********0001')
})
