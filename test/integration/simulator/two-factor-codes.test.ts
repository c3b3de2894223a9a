import { afterEach, beforeEach, expect, test } from 'vitest'
import { appCode } from './authenticator-app.ts'
import type { Answered } from './service.ts'
import { otherThan, refused, startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'

let steps: TwoFactorSteps
beforeEach(async () => {
  steps = await startTwoFactor()
})
afterEach(() => steps.service.sim.close())

const NUMBER = '+15551230001'
const OTHER = '+15551230002'
const send = (path: string, body: unknown) => steps.tfa('POST', path, body)
const setUp = async () =>
  (await send('totp-setup/', undefined)).body as Record<'secret' | 'provisioning_uri', string>

const repeat = async (times: number, call: () => Promise<Answered>) => {
  for (let time = 0; time < times; time++) expect((await call()).status).toBe(200)
  return await call()
}

/** Codes of section 7's second table that are provoked below. */
const provoked = new Set<string>()

/** Has `provoke` be refused. */
function refuses(error: string, status: number, why: string, provoke: () => Promise<Answered>): void {
  provoked.add(error)
  test(`${error} (${status}): ${why}`, async () => {
    expect(await provoke()).toMatchObject(refused(status, error, { msg: expect.any(String) }))
  })
}

refuses('bad_request', 400, 'a code that is not 6 digits', () => send('', { code: '12345' }))

refuses('bad_request', 400, 'a number that is not E.164', () => send('sms/', { phone_number: '5551230001' }))

refuses('auth_error', 403, 'no key', () => steps.tfa('GET', 'status/', undefined, null))

refuses('invalid_tfa_method', 400, 'a method there is not', () =>
  send('', { tfa_method: 'fax', code: '123456' }),
)

refuses('invalid_tfa_method', 400, 'email as a new method', () =>
  send('confirm-new/', { tfa_method: 'email', code: '123456', secret: 'x' }),
)

refuses('invalid_tfa_method', 400, 'the id of a method of another kind', async () => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  const { id } = await steps.addSms(NUMBER)
  return await send('', { tfa_method: 'totp', code: appCode(uri), tfa_method_id: id })
})

refuses('missing_auth_value', 400, 'neither code nor backup code', () => send('', { tfa_method: 'totp' }))

refuses('missing_params', 400, 'a code without its secret', () => send('', { code: '123456' }))

refuses('missing_params', 400, 'an authorization without both', () =>
  steps.tfa('PUT', 'authorize-new-method/', {}),
)

refuses('missing_params', 400, 'a new method without both', () =>
  send('confirm-new/', { tfa_method: 'totp' }),
)

refuses('email_not_verified', 400, 'an unverified address', async () => {
  await steps.account({ email_verified: false })
  for (const [path, body] of [
    ['email/', {}],
    ['sms/resend/', {}],
    ['authorize-new-method/', {}],
  ] as const) {
    expect(await send(path, body)).toMatchObject(refused(400, 'email_not_verified'))
  }
  return await send('sms/', { phone_number: NUMBER })
})

refuses('2fa_expired', 400, 'a code older than 10 minutes', async () => {
  const proof = await steps.emailProof()
  await steps.minutes(10)
  return await send('', proof)
})

refuses('2fa_expired', 400, 'an authorization older than 10 minutes', async () => {
  const { body } = await send('authorize-new-method/', {})
  const { code } = await steps.message()
  await steps.minutes(10)
  return await steps.tfa('PUT', 'authorize-new-method/', { code, secret: body['secret'] })
})

refuses('challenge_not_found', 400, 'an unknown secret', () =>
  send('', { code: '123456', secret: 'unknown' }),
)

refuses('no_challenge_found', 400, 'nothing to send again', () => send('sms/resend/', {}))

refuses('no_challenge_found', 400, 'a login that was sent nothing', async () =>
  steps.tfa('POST', '', { tfa_secret: await steps.tfaSecret(), code: '123456' }, null),
)

refuses('authorization_required', 403, 'a new method out of the blue', async () => {
  const { secret, provisioning_uri } = await setUp()
  return await send('confirm-new/', { tfa_method: 'totp', code: appCode(provisioning_uri), secret })
})

refuses('no_pending_authorization', 400, 'a confirmation of nothing', () =>
  steps.tfa('PUT', 'authorize-new-method/', { code: '123456', secret: 'x' }),
)

refuses('invalid_backup_code', 401, 'a made-up backup code', () =>
  send('', { backup_code: 'AAAA-AAAA-AAAA' }),
)

refuses('untracked_2fa_found', 400, 'a legacy account that adds a method', async () => {
  await steps.account({ legacy: true, phone_number: NUMBER })
  expect(await send('authorize-new-method/', {})).toMatchObject(refused(400, 'untracked_2fa_found'))
  return await send('confirm-new/', { tfa_method: 'totp', code: '123456', secret: 'x' })
})

refuses('duplicate_tfa_method', 400, 'a second authenticator', async () => {
  await steps.authorize()
  await steps.addTotp()
  const { secret, provisioning_uri } = await setUp()
  return await send('confirm-new/', { tfa_method: 'totp', code: appCode(provisioning_uri), secret })
})

refuses('duplicate_tfa_method', 400, 'the same number twice', async () => {
  await steps.authorize()
  await steps.addSms(NUMBER)
  return await send('confirm-new/', await steps.smsProof())
})

refuses('tfa_locked', 429, 'a method locked by wrong codes for text messages', async () => {
  await steps.authorize()
  await steps.addSms(NUMBER)
  const proof = await steps.smsProof()
  const wrong = { ...proof, code: otherThan(proof.code) }
  for (let time = 0; time < 5; time++) await steps.tfa('DELETE', '', wrong)
  const locked = await steps.tfa('PUT', 'regen-backup-codes/', proof)
  expect(locked.body).toMatchObject({ fail_count: 5, locked_until: expect.any(Number) })
  expect(await send('authorize-new-method/', { tfa_method: 'sms' })).toMatchObject(refused(429, 'tfa_locked'))
  return locked
})

refuses('service_unavailable', 503, 'a cache that is down when the window is looked up', async () => {
  await steps.account({ cache_down: true })
  for (const [method, body] of [
    ['POST', {}],
    ['PUT', { code: '123456', secret: 'x' }],
  ] as const) {
    expect(await steps.tfa(method, 'authorize-new-method/', body)).toMatchObject(
      refused(503, 'service_unavailable'),
    )
  }
  return await send('confirm-new/', { tfa_method: 'totp', code: '123456', secret: 'x' })
})

refuses('2fa_login_failed', 400, 'a login with a wrong email code', async () => {
  const proof = await steps.emailProof()
  return await send('', { ...proof, code: otherThan(proof.code) })
})

refuses('2fa_verification_failed', 400, 'an authorization with a wrong code', async () => {
  const { body } = await send('authorize-new-method/', {})
  const code = otherThan((await steps.message()).code)
  const failed = await steps.tfa('PUT', 'authorize-new-method/', { code, secret: body['secret'] })
  expect(failed.body).not.toHaveProperty('fail_count')
  return failed
})

refuses('2fa_verification_failed', 400, 'a wrong code of a configured method', async () => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  const failed = await steps.tfa('DELETE', '', { tfa_method: 'totp', code: otherThan(appCode(uri)) })
  expect(failed.body).toMatchObject({ fail_count: 1, locked_until: null })
  return failed
})

refuses('team_user_forbidden', 403, 'a team context', async () => {
  await steps.account({ team: true })
  return await steps.tfa('GET', 'status/')
})

refuses('missing_email', 400, 'an account without an address', async () => {
  await steps.account({ email: null })
  return await send('email/', {})
})

refuses('not_found', 404, 'the id of no method', () => send('sms/', { tfa_method_id: 1 }))

refuses('not_found', 404, 'a proof with the id of no method', () =>
  send('', { tfa_method: 'totp', code: '123456', tfa_method_id: 1 }),
)

refuses('tfa_method_not_configured', 400, 'an authenticator that was never added', () =>
  send('', { tfa_method: 'totp', code: '123456' }),
)

refuses('tfa_method_not_configured', 400, 'a text message to a number that is no method', async () =>
  send('', await steps.smsProof({ phone_number: NUMBER })),
)

refuses('challenge_creation_failed', 500, 'a cache that is down when a code is wanted', async () => {
  await steps.account({ cache_down: true })
  expect(await send('email/', {})).toMatchObject(refused(500, 'challenge_creation_failed'))
  return await send('sms/', { phone_number: NUMBER })
})

refuses('tfa_challenge_exists', 400, 'a second text message within a minute', async () => {
  await steps.smsProof({ phone_number: NUMBER })
  return await send('sms/', { phone_number: NUMBER })
})

refuses('twilio_error', 400, "one of Twilio's numbers for failures", () =>
  send('sms/', { phone_number: '+15005550009' }),
)

refuses('preauth_phone_cap', 429, 'a number in six authorizations', async () => {
  await steps.authorize()
  await steps.addSms(NUMBER)
  return await repeat(5, () => send('authorize-new-method/', { tfa_method: 'sms' }))
})

refuses('preauth_phone_cap', 429, 'a number in six login attempts', async () => {
  await steps.account({ phone_number: NUMBER })
  const { body } = await steps.tfa('POST', 'sms/', { tfa_secret: await steps.tfaSecret() }, null)
  return await repeat(4, () => steps.tfa('POST', 'sms/resend/', { secret: body['secret'] }, null))
})

refuses('sms_rate_limited', 429, 'eleven text messages in ten minutes', async () => {
  await steps.smsProof({ phone_number: NUMBER })
  const limited = await repeat(9, () => send('sms/resend/', {}))
  await steps.minutes(10)
  await steps.smsProof({ phone_number: NUMBER })
  return limited
})

refuses('phone_number_mismatch', 400, 'a new method with another number than the challenge', async () => {
  await steps.authorize()
  return await send('confirm-new/', {
    ...(await steps.smsProof({ phone_number: NUMBER })),
    phone_number: OTHER,
  })
})

refuses('phone_number_mismatch', 400, 'a text message sent again to another number', async () => {
  const { secret } = await steps.smsProof({ phone_number: NUMBER })
  return await send('sms/resend/', { secret, phone_number: OTHER })
})

refuses('phone_number_mismatch', 400, "another number than the method's", async () => {
  await steps.authorize()
  const { id } = await steps.addSms(NUMBER)
  return await send('sms/', { tfa_method_id: id, phone_number: OTHER })
})

refuses('missing_phone_number', 400, 'no number anywhere', () => send('sms/', {}))

refuses('missing_phone_number', 400, 'a legacy account without a number on file', async () => {
  await steps.account({ legacy: true })
  return await steps.tfa('PUT', 'regen-backup-codes/', await steps.emailProof())
})

refuses('sms_blocked_number', 400, 'a blocked number', async () => {
  await steps.account({ blocked_numbers: [NUMBER] })
  expect((await send('sms/', { phone_number: OTHER })).status).toBe(200)
  return await send('sms/', { phone_number: NUMBER })
})

refuses('sms_fraud_detected', 403, 'an account flagged for fraud', async () => {
  await steps.account({ sms_fraud: true })
  return await send('sms/', { phone_number: NUMBER })
})

test("all codes of the interface's table are provoked above", () => {
  expect([...provoked].sort()).toEqual(
    (
      '2fa_expired 2fa_login_failed 2fa_verification_failed auth_error authorization_required bad_request ' +
      'challenge_creation_failed challenge_not_found duplicate_tfa_method email_not_verified invalid_backup_code ' +
      'invalid_tfa_method missing_auth_value missing_email missing_params missing_phone_number no_challenge_found ' +
      'no_pending_authorization not_found phone_number_mismatch preauth_phone_cap service_unavailable ' +
      'sms_blocked_number sms_fraud_detected sms_rate_limited team_user_forbidden tfa_challenge_exists tfa_locked ' +
      'tfa_method_not_configured twilio_error untracked_2fa_found'
    ).split(' '),
  )
})
