import { expect } from 'vitest'
import type { Answered } from './service.ts'
import type { TwoFactorSteps } from './two-factor-steps.ts'

/** A refusal: its code, its status, its cause, and calls that provoke it. */
export type Provoked = [code: string, status: number, why: string, provoke: () => Promise<Answered>]

const NUMBER = '+15551230001'
const OTHER = '+15551230002'

const repeat = async (times: number, call: () => Promise<Answered>) => {
  for (let time = 0; time < times; time++) expect((await call()).status).toBe(200)
  return await call()
}

/** The codes of section 7's second table about phone numbers and text messages. */
export function textMessageRefusals(steps: () => TwoFactorSteps): Provoked[] {
  const send = (path: string, body: unknown) => steps().tfa('POST', path, body)
  return [
    [
      'tfa_challenge_exists',
      400,
      'a second text message within a minute',
      async () => {
        await steps().smsProof({ phone_number: NUMBER })
        return await send('sms/', { phone_number: NUMBER })
      },
    ],
    [
      'twilio_error',
      400,
      "one of Twilio's numbers for failures",
      () => send('sms/', { phone_number: '+15005550009' }),
    ],
    [
      'preauth_phone_cap',
      429,
      'a number in six authorizations',
      async () => {
        await steps().authorize()
        await steps().addSms(NUMBER)
        return await repeat(5, () => send('authorize-new-method/', { tfa_method: 'sms' }))
      },
    ],
    [
      'preauth_phone_cap',
      429,
      'a number in six login attempts',
      async () => {
        await steps().account({ phone_number: NUMBER })
        const { body } = await steps().tfa('POST', 'sms/', { tfa_secret: await steps().tfaSecret() }, null)
        return await repeat(4, () => steps().tfa('POST', 'sms/resend/', { secret: body['secret'] }, null))
      },
    ],
    [
      'sms_rate_limited',
      429,
      'eleven text messages in ten minutes',
      async () => {
        await steps().smsProof({ phone_number: NUMBER })
        const limited = await repeat(9, () => send('sms/resend/', {}))
        await steps().minutes(10)
        await steps().smsProof({ phone_number: NUMBER })
        return limited
      },
    ],
    [
      'phone_number_mismatch',
      400,
      'a new method with another number than the challenge',
      async () => {
        await steps().authorize()
        return await send('confirm-new/', {
          ...(await steps().smsProof({ phone_number: NUMBER })),
          phone_number: OTHER,
        })
      },
    ],
    [
      'phone_number_mismatch',
      400,
      'a text message sent again to another number',
      async () => {
        const { secret } = await steps().smsProof({ phone_number: NUMBER })
        return await send('sms/resend/', { secret, phone_number: OTHER })
      },
    ],
    [
      'phone_number_mismatch',
      400,
      "another number than the method's",
      async () => {
        await steps().authorize()
        const { id } = await steps().addSms(NUMBER)
        return await send('sms/', { tfa_method_id: id, phone_number: OTHER })
      },
    ],
    ['missing_phone_number', 400, 'no number anywhere', () => send('sms/', {})],
    [
      'missing_phone_number',
      400,
      'a legacy account without a number on file',
      async () => {
        await steps().account({ legacy: true })
        return await steps().tfa('PUT', 'regen-backup-codes/', await steps().emailProof())
      },
    ],
    [
      'sms_blocked_number',
      400,
      'a blocked number',
      async () => {
        await steps().account({ blocked_numbers: [NUMBER] })
        expect((await send('sms/', { phone_number: OTHER })).status).toBe(200)
        return await send('sms/', { phone_number: NUMBER })
      },
    ],
    [
      'sms_fraud_detected',
      403,
      'an account flagged for fraud',
      async () => {
        await steps().account({ sms_fraud: true })
        return await send('sms/', { phone_number: NUMBER })
      },
    ],
  ]
}
