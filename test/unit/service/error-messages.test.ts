import { expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { errorSentence, isServiceCode, refusalSentence } from '#service/http/error-messages.ts'

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

test.each([
  ['https://gpu.example', 'https://gpu.example'],
  ['  https://gpu.example/  ', 'https://gpu.example'],
  ['https://gpu.example:8443/market//', 'https://gpu.example:8443/market'],
  ['HTTPS://GPU.Example/Market', 'https://gpu.example/Market'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ['http://127.9.9.9', 'http://127.9.9.9'],
  ['http://2130706433/', 'http://127.0.0.1'],
  ['http://[::1]:80/', 'http://[::1]'],
  ['http://localhost:9', 'http://localhost:9'],
  ['127.0.0.1:8841', 'http://127.0.0.1:8841'],
  ['localhost:8841/', 'http://localhost:8841'],
  ['[::1]:8841', 'http://[::1]:8841'],
  ['gpu.example', 'https://gpu.example'],
  ['gpu.example.com:8443/market', 'https://gpu.example.com:8443/market'],
  ['127.0.0.1.example', 'https://127.0.0.1.example'],
  ['192.168.1.4:80', 'https://192.168.1.4:80'],
  ['https://gpu.example/api/v0', 'https://gpu.example'],
  ['gpu.example/market/api/v0/', 'https://gpu.example/market'],
  ['https://gpu.example/api/v0/market', 'https://gpu.example/api/v0/market'],
  ['https://gpu.example/my-api/v0', 'https://gpu.example/my-api/v0'],
])('%j is read as %j', (text, base) => {
  expect(parseBaseUrl(text)).toBe(base)
})

test.each([
  ['', 'bad_url'],
  ['two words', 'bad_url'],
  ['gpu.example:port', 'bad_url'],
  ['gpu.example/?key=1', 'bad_url'],
  ['ftp://gpu.example', 'bad_url'],
  ['javascript:alert(1)', 'bad_url'],
  ['file:///etc/passwd', 'bad_url'],
  ['https://', 'bad_url'],
  ['https://gpu.example/?key=1', 'bad_url'],
  ['https://gpu.example/?', 'bad_url'],
  ['https://gpu.example/#', 'bad_url'],
  ['https://gpu.example/#a', 'bad_url'],
  ['http://gpu.example', 'insecure_url'],
  ['http://127.0.0.1.example', 'insecure_url'],
  ['http://192.168.1.4', 'insecure_url'],
  ['http://localhost.example', 'insecure_url'],
  ['https://me:secret@gpu.example', 'url_has_credentials'],
  ['https://me@gpu.example', 'url_has_credentials'],
])('%j is refused as %s', (text, code) => {
  expect(() => parseBaseUrl(text)).toThrow(expect.objectContaining({ name: 'ServiceError', code }))
})

test('a refused address is not repeated in the message', () => {
  expect(() => parseBaseUrl('https://me:hunter2@gpu.example')).not.toThrow(/hunter2/)
})
