import { Secret } from 'otpauth'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Authenticators, fitsNow } from '#simulator/world/two-factor/authenticator.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const rfcSecret = Secret.fromUTF8('12345678901234567890').base32

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %i seconds the code is that of RFC 6238, appendix B', (seconds, code) => {
  vi.setSystemTime(seconds * 1000)
  expect(fitsNow(rfcSecret, code)).toBe(true)
})

test('a code is valid one step of 30 seconds early or late, but not two', () => {
  const fits = [-2, -1, 0, 1, 2].map(steps => {
    vi.setSystemTime((1_234_567_890 + steps * 30) * 1000)
    return fitsNow(rfcSecret, '005924')
  })
  expect(fits).toEqual([false, true, true, true, false])
})

test('a setup follows from the seed, is new each time and carries its secret in its address', () => {
  const authenticators = new Authenticators(7)
  const first = authenticators.setUp('someone@example.com')
  const second = authenticators.setUp('someone@example.com')
  expect(first).toEqual(new Authenticators(7).setUp('someone@example.com'))
  expect(second.secret).not.toBe(first.secret)
  expect(first.secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new URL(first.uri)).toMatchObject({ protocol: 'otpauth:', host: 'totp' })
  expect(new URL(first.uri).searchParams.get('secret')).toBe(first.secret)
  expect(authenticators.issued(second.secret)).toBe(true)
  expect(authenticators.issued(rfcSecret)).toBe(false)
})
