import { afterEach, beforeEach, expect, test } from 'vitest'
import { appCode } from '../simulator/authenticator-app.ts'
import { type Connected, connect } from './connected.ts'

let service: Connected
let tfa: Connected['client']['twoFactor']
beforeEach(async () => {
  service = await connect({ offers: 5 })
  tfa = service.client.twoFactor
})
afterEach(() => service.simulator.close())

const NUMBER = '+15551230001'

async function smsProof(phone_number?: string) {
  const { secret } = await tfa.sendSms(phone_number === undefined ? {} : { phone_number })
  return { tfa_method: 'sms', code: service.message().code, secret } as const
}

/** Adds an authenticator and a number. */
async function withMethods() {
  const { secret: asked = '' } = await tfa.authorizeNewMethod({ tfa_method: 'email' })
  await tfa.confirmAuthorization({ code: service.message().code, secret: asked })
  const { secret, provisioning_uri: uri } = await tfa.setUpTotp()
  const added = await tfa.confirmMethod({ tfa_method: 'totp', code: appCode(uri), secret, label: 'phone' })
  await tfa.confirmMethod({ ...(await smsProof(NUMBER)), phone_number: NUMBER })
  return { uri, backupCodes: added.backup_codes ?? [] }
}

test('a login by email, text message, authenticator or backup code gives the user and a session key', async () => {
  const { uri, backupCodes } = await withMethods()
  const { secret } = await tfa.sendEmail({})
  const email = { tfa_method: 'email', code: service.message().code, secret } as const
  for (const proof of [email, await smsProof(), { tfa_method: 'totp', code: appCode(uri) } as const]) {
    const user = await tfa.login(proof)
    expect(user).toMatchObject({ id: service.simulator.userId, session_key: expect.any(String) })
    await service.as(user.session_key ?? '').account.currentUser()
  }
  const [backup_code = ''] = backupCodes
  expect((await tfa.login({ backup_code })).backup_codes_remaining).toBe(9)
})

test('on the login path no key is sent, and no session key comes back', async () => {
  const { twoFactor } = service.as('nobody')
  const tfa_secret = service.simulator.controls.issueTfaSecret()
  const { secret } = await twoFactor.sendEmail({ tfa_secret })
  const proof = { tfa_method: 'email', code: service.message().code, secret } as const
  const user = await twoFactor.login({ tfa_secret, ...proof, admin: true })
  expect(user).toMatchObject({ id: service.simulator.userId })
  expect(user.session_key).toBeUndefined()
})

/** How often the two-factor endpoints are asked while they refuse with a 503. */
async function asked(error: string, call: () => Promise<unknown>): Promise<number> {
  const rule = { path: '/tfa/', kind: 'status', status: 503, error, times: 2 } as const
  service.simulator.controls.setFaults([rule])
  const before = service.simulator.controls.requests().length
  await call().catch((thrown: unknown) => expect(thrown).toMatchObject({ code: error }))
  return service.simulator.controls.requests().length - before
}

test.each(['service_unavailable', 'challenge_creation_failed'])(
  '%s ends the sending of a code',
  async error => {
    expect(await asked(error, () => tfa.sendSms({ phone_number: NUMBER }, { retries: 3 }))).toBe(1)
  },
)

test('a status refused with service_unavailable is asked for again', async () => {
  expect(await asked('service_unavailable', () => tfa.status({ retries: 3 }))).toBe(3)
})
