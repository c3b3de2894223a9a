import { afterEach, beforeEach, expect, test } from 'vitest'
import { twoFactorSentences } from '#service/http/two-factor-sentences.ts'
import type { MethodChanges } from '#service/two-factor.ts'
import { appCode } from '../simulator/authenticator-app.ts'
import { otherThan } from '../simulator/two-factor-steps.ts'
import { failure } from './connected.ts'
import { startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'

let steps: TwoFactorSteps
let tfa: TwoFactorSteps['tfa']
beforeEach(async () => {
  steps = await startTwoFactor()
  tfa = steps.tfa
})
afterEach(() => steps.simulator.close())

const NUMBER = '+15551230001'
const OTHER = '+15551230002'

/** A code of section 7's second table, its status, its cause, and client calls that provoke it. */
type Provoked = [code: string, status: number, why: string, provoke: () => Promise<unknown>]

const again = async (times: number, call: () => Promise<unknown>) => {
  for (let time = 0; time < times; time++) await call()
  return await call()
}

const provoked: Provoked[] = [
  ['bad_request', 400, 'a code that is not 6 digits', () => tfa.login({ code: '12345' })],
  ['auth_error', 403, 'a key that nobody issued', () => steps.as('nobody').twoFactor.status()],
  [
    'invalid_tfa_method',
    400,
    'email, which is never stored, as the method to change',
    () => tfa.updateMethod({ tfa_method: 'email', label: 'a' } as object as MethodChanges),
  ],
  ['missing_auth_value', 400, 'neither code nor backup code', () => tfa.login({ tfa_method: 'totp' })],
  ['missing_params', 400, 'a code without its secret', () => tfa.login({ code: '123456' })],
  [
    'email_not_verified',
    400,
    'an address that is not verified',
    () => {
      steps.account({ email_verified: false })
      return tfa.sendEmail({})
    },
  ],
  [
    '2fa_expired',
    400,
    'a code older than ten minutes',
    async () => {
      const proof = await steps.emailProof()
      await steps.minutes(10)
      return await tfa.login(proof)
    },
  ],
  ['challenge_not_found', 400, 'an unknown secret', () => tfa.login({ code: '123456', secret: 'unknown' })],
  ['no_challenge_found', 400, 'nothing to send again', () => tfa.resendSms({})],
  [
    'tfa_challenge_exists',
    400,
    'a second text message within a minute',
    () => again(1, () => tfa.sendSms({ phone_number: NUMBER })),
  ],
  ['authorization_required', 403, 'a new method out of the blue', () => steps.addTotp()],
  [
    'no_pending_authorization',
    400,
    'a confirmation of nothing',
    () => tfa.confirmAuthorization({ code: '123456', secret: 'x' }),
  ],
  ['invalid_backup_code', 401, 'a made-up backup code', () => tfa.login({ backup_code: 'AAAA-AAAA-AAAA' })],
  [
    'untracked_2fa_found',
    400,
    'a legacy account that adds a method',
    () => {
      steps.account({ legacy: true, phone_number: NUMBER })
      return tfa.authorizeNewMethod({})
    },
  ],
  [
    'duplicate_tfa_method',
    400,
    'a second authenticator',
    async () => {
      await steps.authorize()
      await steps.addTotp()
      return await steps.addTotp()
    },
  ],
  [
    'twilio_error',
    400,
    'a number that gets no messages',
    () => tfa.sendSms({ phone_number: '+15005550009' }),
  ],
  [
    'preauth_phone_cap',
    429,
    'a number in six authorizations',
    async () => {
      await steps.authorize()
      await steps.addSms(NUMBER)
      return await again(5, () => tfa.authorizeNewMethod({ tfa_method: 'sms' }))
    },
  ],
  [
    'sms_rate_limited',
    429,
    'eleven text messages in ten minutes',
    async () => {
      await steps.smsProof(NUMBER)
      return await again(9, () => tfa.resendSms({}))
    },
  ],
  [
    'tfa_locked',
    429,
    'a sixth code after five wrong ones',
    async () => {
      await steps.authorize()
      const { uri } = await steps.addTotp()
      const wrong = { tfa_method: 'totp', code: otherThan(appCode(uri)) } as const
      for (let time = 0; time < 5; time++) await tfa.removeMethod(wrong).catch(() => {})
      return await tfa.removeMethod({ ...wrong, code: appCode(uri) })
    },
  ],
  [
    'service_unavailable',
    503,
    'a cache that is down when an authorization is looked up',
    () => {
      steps.account({ cache_down: true })
      return tfa.confirmAuthorization({ code: '123456', secret: 'x' })
    },
  ],
  [
    'phone_number_mismatch',
    400,
    'a text message sent again to another number',
    async () => {
      const { secret } = await steps.smsProof(NUMBER)
      return await tfa.resendSms({ secret, phone_number: OTHER })
    },
  ],
  [
    '2fa_login_failed',
    400,
    'a login with a wrong code from an email',
    async () => {
      const proof = await steps.emailProof()
      return await tfa.login({ ...proof, code: otherThan(proof.code) })
    },
  ],
  [
    '2fa_verification_failed',
    400,
    'a wrong code of a configured method',
    async () => {
      await steps.authorize()
      const { uri } = await steps.addTotp()
      return await tfa.regenerateBackupCodes({ tfa_method: 'totp', code: otherThan(appCode(uri)) })
    },
  ],
  [
    'team_user_forbidden',
    403,
    'a team context',
    () => {
      steps.account({ team: true })
      return tfa.status()
    },
  ],
  [
    'missing_email',
    400,
    'an account without an address',
    () => {
      steps.account({ email: null })
      return tfa.sendEmail({})
    },
  ],
  ['missing_phone_number', 400, 'no number anywhere', () => tfa.sendSms({})],
  ['not_found', 404, 'the id of no method', () => tfa.sendSms({ tfa_method_id: 1 })],
  [
    'tfa_method_not_configured',
    400,
    'an authenticator that was never added',
    () => tfa.login({ tfa_method: 'totp', code: '123456' }),
  ],
  [
    'challenge_creation_failed',
    500,
    'a cache that is down when a code is to be sent',
    () => {
      steps.account({ cache_down: true })
      return tfa.sendEmail({})
    },
  ],
  [
    'sms_blocked_number',
    400,
    'a number at high risk of fraud',
    () => {
      steps.account({ blocked_numbers: [NUMBER] })
      return tfa.sendSms({ phone_number: NUMBER })
    },
  ],
  [
    'sms_fraud_detected',
    403,
    'an account flagged for fraud',
    () => {
      steps.account({ sms_fraud: true })
      return tfa.sendSms({ phone_number: NUMBER })
    },
  ],
]

test.each(provoked)('%s (%i) reaches the caller: %s', async (code, status, _why, provoke) => {
  await expect(provoke()).rejects.toMatchObject(failure(code, status, { detail: expect.any(String) }))
})

test('every two-factor code with a sentence is provoked above', () => {
  expect(provoked.map(([code]) => code).sort()).toEqual(
    [...Object.keys(twoFactorSentences), 'not_found'].sort(),
  )
})

/** The number of requests so far. */
const asked = () => steps.simulator.controls.requests().length

test.each(['service_unavailable', 'challenge_creation_failed'])(
  '%s while a code is sent is not retried',
  async error => {
    const rule = { method: 'POST', path: '/tfa/', kind: 'status', status: 503, error } as const
    steps.simulator.controls.setFaults([rule])
    const before = asked()
    await expect(tfa.sendSms({ phone_number: NUMBER }, { retries: 3 })).rejects.toMatchObject({ code: error })
    expect(asked()).toBe(before + 1)
  },
)

test('a status refused with service_unavailable is retried', async () => {
  const rule = { path: '/tfa/', kind: 'status', status: 503, error: 'service_unavailable', times: 2 } as const
  steps.simulator.controls.setFaults([rule])
  const before = asked()
  expect(await tfa.status({ retries: 3 })).toMatchObject({ tfa_enabled: false })
  expect(asked()).toBe(before + 3)
})
