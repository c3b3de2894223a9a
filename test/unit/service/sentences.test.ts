import { expect, test } from 'vitest'
import { errorSentence, isServiceCode, refusalSentence } from '#service/http/sentences.ts'

const general = [
  'invalid_args',
  'invalid_permissions',
  'missing_permissions',
  'not_authorized',
  'no_such_instance',
  'no_such_user',
]

const twoFactor =
  `bad_request auth_error invalid_tfa_method missing_auth_value missing_params email_not_verified 2fa_expired
  challenge_not_found no_challenge_found tfa_challenge_exists authorization_required no_pending_authorization
  invalid_backup_code untracked_2fa_found duplicate_tfa_method twilio_error preauth_phone_cap sms_rate_limited
  tfa_locked service_unavailable phone_number_mismatch 2fa_login_failed 2fa_verification_failed team_user_forbidden
  missing_email missing_phone_number not_found tfa_method_not_configured challenge_creation_failed
  sms_blocked_number sms_fraud_detected`.split(/\s+/)

test.each([...general, ...twoFactor])('section 7’s %s says what happened and what to try', code => {
  if (!isServiceCode(code)) return expect.fail(`${code} has no sentence`)
  const { message, advice } = errorSentence(code)
  for (const sentence of [message, advice]) {
    expect(sentence).toMatch(/^[A-Z].*\.$/)
    expect(sentence).not.toContain(code)
  }
})

test('no two codes share a message', () => {
  const messages = [...general, ...twoFactor].filter(isServiceCode).map(code => errorSentence(code).message)
  expect(new Set(messages).size).toBe(messages.length)
})

test('inherited property names are no codes', () => {
  expect(isServiceCode('constructor')).toBe(false)
  expect(isServiceCode('__proto__')).toBe(false)
})

test('an unlisted code is shown in the service’s words, with advice', () => {
  expect(
    refusalSentence('refused', 'insufficient_credit: You have $0.10 left', 'insufficient_credit'),
  ).toEqual({
    message: 'The service refused the request. It says: “insufficient_credit: You have $0.10 left”',
    advice: 'Add credit in the service’s web console, then try again.',
  })
  expect(refusalSentence('forbidden', 'Not your own machine', undefined)).toMatchObject({
    message: expect.stringContaining('Not your own machine'),
    advice: expect.stringMatching(/\.$/),
  })
  expect(refusalSentence('server_error', 'trace', undefined)).toEqual(errorSentence('server_error'))
})
