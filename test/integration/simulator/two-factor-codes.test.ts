import { afterEach, beforeEach, expect, test } from 'vitest'
import { appCode } from './authenticator-app.ts'
import { otherThan, refused, startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'
import { type Provoked, textMessageRefusals } from './two-factor-text-refusals.ts'

let steps: TwoFactorSteps
beforeEach(async () => {
  steps = await startTwoFactor()
})
afterEach(() => steps.service.sim.close())

const NUMBER = '+15551230001'
const send = (path: string, body: unknown) => steps.tfa('POST', path, body)
const setUp = async () =>
  (await send('totp-setup/', undefined)).body as Record<'secret' | 'provisioning_uri', string>

/** Every code of section 7's second table, its status, and a way to provoke it. */
const provoked: Provoked[] = [
  ['bad_request', 400, 'a value of the wrong type', () => send('', { code: 123456 })],
  ['bad_request', 400, 'a body that is no JSON', () => send('', '{')],
  ['bad_request', 400, 'a code that is not 6 digits', () => send('', { code: '12345' })],
  ['bad_request', 400, 'a number that is not E.164', () => send('sms/', { phone_number: '5551230001' })],
  ['auth_error', 403, 'no key', () => steps.tfa('GET', 'status/', undefined, null)],
  ['invalid_tfa_method', 400, 'a method there is not', () => send('', { tfa_method: 'fax', code: '123456' })],
  [
    'invalid_tfa_method',
    400,
    'email as a new method',
    () => send('confirm-new/', { tfa_method: 'email', code: '123456', secret: 'x' }),
  ],
  [
    'invalid_tfa_method',
    400,
    'the id of a method of another kind',
    async () => {
      await steps.authorize()
      const { uri } = await steps.addTotp()
      const { id } = await steps.addSms(NUMBER)
      return await send('', { tfa_method: 'totp', code: appCode(uri), tfa_method_id: id })
    },
  ],
  ['missing_auth_value', 400, 'neither code nor backup code', () => send('', { tfa_method: 'totp' })],
  ['missing_params', 400, 'a code without its secret', () => send('', { code: '123456' })],
  [
    'missing_params',
    400,
    'an authorization without both',
    () => steps.tfa('PUT', 'authorize-new-method/', {}),
  ],
  ['missing_params', 400, 'a new method without both', () => send('confirm-new/', { tfa_method: 'totp' })],
  [
    'email_not_verified',
    400,
    'an unverified address',
    async () => {
      await steps.account({ email_verified: false })
      for (const [path, body] of [
        ['email/', {}],
        ['sms/resend/', {}],
        ['authorize-new-method/', {}],
      ] as const) {
        expect(await send(path, body)).toMatchObject(refused(400, 'email_not_verified'))
      }
      return await send('sms/', { phone_number: NUMBER })
    },
  ],
  [
    '2fa_expired',
    400,
    'a code older than 10 minutes',
    async () => {
      const proof = await steps.emailProof()
      await steps.minutes(10)
      return await send('', proof)
    },
  ],
  [
    '2fa_expired',
    400,
    'an authorization older than 10 minutes',
    async () => {
      const { body } = await send('authorize-new-method/', {})
      const { code } = await steps.message()
      await steps.minutes(10)
      return await steps.tfa('PUT', 'authorize-new-method/', { code, secret: body['secret'] })
    },
  ],
  ['challenge_not_found', 400, 'an unknown secret', () => send('', { code: '123456', secret: 'unknown' })],
  ['no_challenge_found', 400, 'nothing to send again', () => send('sms/resend/', {})],
  [
    'no_challenge_found',
    400,
    'a login that was sent nothing',
    async () => steps.tfa('POST', '', { tfa_secret: await steps.tfaSecret(), code: '123456' }, null),
  ],
  [
    'authorization_required',
    403,
    'a new method out of the blue',
    async () => {
      const { secret, provisioning_uri } = await setUp()
      return await send('confirm-new/', { tfa_method: 'totp', code: appCode(provisioning_uri), secret })
    },
  ],
  [
    'no_pending_authorization',
    400,
    'a confirmation of nothing',
    () => steps.tfa('PUT', 'authorize-new-method/', { code: '123456', secret: 'x' }),
  ],
  ['invalid_backup_code', 401, 'a made-up backup code', () => send('', { backup_code: 'AAAA-AAAA-AAAA' })],
  [
    'untracked_2fa_found',
    400,
    'a legacy account that adds a method',
    async () => {
      await steps.account({ legacy: true, phone_number: NUMBER })
      expect(await send('authorize-new-method/', {})).toMatchObject(refused(400, 'untracked_2fa_found'))
      return await send('confirm-new/', { tfa_method: 'totp', code: '123456', secret: 'x' })
    },
  ],
  [
    'duplicate_tfa_method',
    400,
    'a second authenticator',
    async () => {
      await steps.authorize()
      await steps.addTotp()
      const { secret, provisioning_uri } = await setUp()
      return await send('confirm-new/', { tfa_method: 'totp', code: appCode(provisioning_uri), secret })
    },
  ],
  [
    'duplicate_tfa_method',
    400,
    'the same number twice',
    async () => {
      await steps.authorize()
      await steps.addSms(NUMBER)
      return await send('confirm-new/', await steps.smsProof())
    },
  ],
  [
    'tfa_locked',
    429,
    'a method locked by wrong codes for text messages',
    async () => {
      await steps.authorize()
      await steps.addSms(NUMBER)
      const proof = await steps.smsProof()
      const wrong = { ...proof, code: otherThan(proof.code) }
      for (let time = 0; time < 5; time++) await steps.tfa('DELETE', '', wrong)
      const locked = await steps.tfa('PUT', 'regen-backup-codes/', proof)
      expect(locked.body).toMatchObject({ fail_count: 5, locked_until: expect.any(Number) })
      expect(await send('authorize-new-method/', { tfa_method: 'sms' })).toMatchObject(
        refused(429, 'tfa_locked'),
      )
      return locked
    },
  ],
  [
    'service_unavailable',
    503,
    'a cache that is down when the window is looked up',
    async () => {
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
    },
  ],
  [
    '2fa_login_failed',
    400,
    'a login with a wrong email code',
    async () => {
      const proof = await steps.emailProof()
      return await send('', { ...proof, code: otherThan(proof.code) })
    },
  ],
  [
    '2fa_verification_failed',
    400,
    'an authorization with a wrong code',
    async () => {
      const { body } = await send('authorize-new-method/', {})
      const code = otherThan((await steps.message()).code)
      const failed = await steps.tfa('PUT', 'authorize-new-method/', { code, secret: body['secret'] })
      expect(failed.body).not.toHaveProperty('fail_count')
      return failed
    },
  ],
  [
    '2fa_verification_failed',
    400,
    'a wrong code of a configured method',
    async () => {
      await steps.authorize()
      const { uri } = await steps.addTotp()
      const failed = await steps.tfa('DELETE', '', { tfa_method: 'totp', code: otherThan(appCode(uri)) })
      expect(failed.body).toMatchObject({ fail_count: 1, locked_until: null })
      return failed
    },
  ],
  [
    'team_user_forbidden',
    403,
    'a team context',
    async () => {
      await steps.account({ team: true })
      return await steps.tfa('GET', 'status/')
    },
  ],
  [
    'missing_email',
    400,
    'an account without an address',
    async () => {
      await steps.account({ email: null })
      return await send('email/', {})
    },
  ],
  ['not_found', 404, 'the id of no method', () => send('sms/', { tfa_method_id: 1 })],
  [
    'not_found',
    404,
    'a proof with the id of no method',
    () => send('', { tfa_method: 'totp', code: '123456', tfa_method_id: 1 }),
  ],
  [
    'tfa_method_not_configured',
    400,
    'an authenticator that was never added',
    () => send('', { tfa_method: 'totp', code: '123456' }),
  ],
  [
    'tfa_method_not_configured',
    400,
    'a text message to a number that is no method',
    async () => send('', await steps.smsProof({ phone_number: NUMBER })),
  ],
  [
    'challenge_creation_failed',
    500,
    'a cache that is down when a code is wanted',
    async () => {
      await steps.account({ cache_down: true })
      expect(await send('email/', {})).toMatchObject(refused(500, 'challenge_creation_failed'))
      return await send('sms/', { phone_number: NUMBER })
    },
  ],
  ...textMessageRefusals(() => steps),
]

test.each(provoked)('%s (%i): %s', async (error, status, _why, provoke) => {
  expect(await provoke()).toMatchObject(refused(status, error, { msg: expect.any(String) }))
})

test("all codes of the interface's table are provoked above", () => {
  expect([...new Set(provoked.map(([error]) => error))].sort()).toEqual(
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

test('a fault rule can answer with any code', async () => {
  const rules = [{ path: '/tfa/', kind: 'status', status: 503, error: 'service_unavailable', times: 1 }]
  await steps.service.call('POST', '/sim/faults', { rules }, null)
  expect(await steps.tfa('GET', 'status/')).toMatchObject(refused(503, 'service_unavailable'))
  expect((await steps.tfa('GET', 'status/')).status).toBe(200)
})
