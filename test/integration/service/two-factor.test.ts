import { afterEach, beforeEach, expect, test } from 'vitest'
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
const codes = expect.arrayContaining([expect.stringMatching(/^\w{4}-\w{4}-\w{4}$/)])

test('the status of an account without methods says so', async () => {
  expect(await tfa.status()).toMatchObject({
    ...{ tfa_enabled: false, methods: [], backup_codes_remaining: 0, new_method_authorized: false },
  })
})

test('the first method brings ten backup codes and switches two-factor authentication on', async () => {
  await steps.authorize()
  const { id, backupCodes } = await steps.addTotp('phone')
  expect(backupCodes).toEqual(codes)
  expect(backupCodes).toHaveLength(10)
  const status = await tfa.status()
  expect(status).toMatchObject({ tfa_enabled: true, backup_codes_remaining: 10 })
  expect(status.methods).toMatchObject([
    { id, method: 'totp', label: 'phone', is_primary: true, fail_count: 0, locked_until: null },
  ])
  expect((await steps.client.account.currentUser()).tfa_status).toBe('enabled')
  expect((await steps.addSms(NUMBER)).backupCodes).toEqual([])
  expect((await tfa.status()).methods[1]).toMatchObject({ phone_number: expect.stringMatching(/^\*+0001$/) })
})

test('setting up an authenticator gives a secret and its URI, but adds no method', async () => {
  const { secret, provisioning_uri } = await tfa.setUpTotp()
  expect(secret).toMatch(/^[A-Z2-7]{16,}$/)
  const uri = new URL(provisioning_uri)
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp'])
  expect(uri.searchParams.get('secret')).toBe(secret)
  expect(await tfa.status()).toMatchObject({ tfa_enabled: false, methods: [] })
})

test('the window to add methods closes after 30 minutes', async () => {
  await steps.authorize()
  expect((await tfa.status()).new_method_authorized).toBe(true)
  await steps.minutes(31)
  expect((await tfa.status()).new_method_authorized).toBe(false)
  await expect(steps.addTotp()).rejects.toMatchObject(failure('authorization_required', 403))
})

test('a backup code authorizes at once, and only once', async () => {
  await steps.authorize()
  const [backup_code = ''] = (await steps.addTotp()).backupCodes
  await steps.minutes(31)
  expect(await tfa.authorizeNewMethod({ backup_code })).toMatchObject({ success: true })
  expect((await tfa.status()).new_method_authorized).toBe(true)
  await expect(tfa.authorizeNewMethod({ backup_code })).rejects.toMatchObject(
    failure('invalid_backup_code', 401),
  )
})

test('a login by email, text message, authenticator or backup code gives the user and a session key', async () => {
  await steps.authorize()
  const { uri, backupCodes } = await steps.addTotp()
  await steps.addSms(NUMBER)
  const totp = { tfa_method: 'totp', code: appCode(uri) } as const
  for (const proof of [await steps.emailProof(), await steps.smsProof(), totp]) {
    const user = await tfa.login(proof)
    expect(user).toMatchObject({ id: steps.simulator.userId, session_key: expect.any(String) })
    expect(user.backup_codes_remaining).toBeUndefined()
    await steps.as(user.session_key ?? '').account.currentUser()
  }
  for (const [used, backup_code] of backupCodes.entries()) {
    expect((await tfa.login({ backup_code })).backup_codes_remaining).toBe(9 - used || undefined)
  }
})

test('on the login path no key is sent, and no session key comes back', async () => {
  const { twoFactor } = steps.as('nobody')
  const tfa_secret = steps.simulator.controls.issueTfaSecret()
  const { secret } = await twoFactor.sendEmail({ tfa_secret })
  const proof = { tfa_method: 'email', code: steps.message().code, secret } as const
  const user = await twoFactor.login({ tfa_secret, ...proof, admin: true })
  expect(user.id).toBe(steps.simulator.userId)
  expect(user.session_key).toBeUndefined()
})

test('a resent text message has a new secret', async () => {
  await steps.smsProof(NUMBER)
  const first = steps.message()
  const { secret } = await tfa.resendSms({ phone_number: NUMBER })
  expect(secret).not.toBe(first.secret)
  expect(steps.message()).toMatchObject({ to: NUMBER, secret })
})

test('a label and the primary method are changed', async () => {
  await steps.authorize()
  await steps.addTotp()
  const { id } = await steps.addSms(NUMBER)
  expect(
    await tfa.updateMethod({ tfa_method_id: id, label: 'a'.repeat(30), is_primary: true }),
  ).toMatchObject({
    method: { id, label: 'a'.repeat(30), is_primary: true },
  })
  expect((await tfa.status()).methods[0]).toMatchObject({ method: 'totp', is_primary: false })
  await expect(tfa.updateMethod({ tfa_method_id: id, label: 'a'.repeat(31) })).rejects.toMatchObject(
    failure('bad_request', 400),
  )
})

test('removing tells how many methods are left, and the last one takes the backup codes along', async () => {
  await steps.authorize()
  const { id } = await steps.addTotp()
  await steps.addSms(NUMBER)
  expect(await tfa.removeMethod({ ...(await steps.emailProof()), target_id: id })).toMatchObject({
    remaining_methods: 1,
  })
  const last = await tfa.removeMethod(await steps.smsProof())
  expect(last.remaining_methods).toBeUndefined()
  expect(await tfa.status()).toMatchObject({ tfa_enabled: false, methods: [], backup_codes_remaining: 0 })
})

test('regenerated backup codes are ten new ones', async () => {
  await steps.authorize()
  const { uri, backupCodes } = await steps.addTotp()
  const { backup_codes } = await tfa.regenerateBackupCodes({ tfa_method: 'totp', code: appCode(uri) })
  expect(backup_codes).toEqual(codes)
  expect(new Set([...backup_codes, ...backupCodes]).size).toBe(20)
})

test('a method is locked by five wrong codes, tells since when and until when, and is free after 15 minutes', async () => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  await steps.addSms(NUMBER)
  const wrong = { tfa_method: 'totp', code: otherThan(appCode(uri)) } as const
  for (let failCount = 1; failCount <= 5; failCount++) {
    await expect(tfa.login(wrong)).rejects.toMatchObject(
      failure('2fa_verification_failed', 400, { failCount }),
    )
  }
  const right = { tfa_method: 'totp', code: appCode(uri) } as const
  await expect(tfa.login(right)).rejects.toMatchObject(
    failure('tfa_locked', 429, { failCount: 5, lockedUntil: expect.any(Number), retryAfter: 900 }),
  )
  expect(await tfa.login(await steps.smsProof())).toMatchObject({ id: steps.simulator.userId })
  await steps.minutes(15)
  expect(await tfa.login({ ...right, code: appCode(uri) })).toMatchObject({ id: steps.simulator.userId })
})

test('a legacy account is told apart, and its new backup codes make its number a method', async () => {
  steps.account({ legacy: true, phone_number: NUMBER })
  expect((await steps.client.account.currentUser()).tfa_status).toBe('legacy')
  expect(await tfa.status()).toMatchObject({ tfa_enabled: true, methods: [] })
  expect((await tfa.login(await steps.smsProof())).legacy_tfa_user).toBe(true)
  await steps.minutes(2)
  expect((await tfa.regenerateBackupCodes(await steps.smsProof())).backup_codes).toHaveLength(10)
  expect((await tfa.status()).methods).toMatchObject([{ method: 'sms' }])
  expect((await steps.client.account.currentUser()).tfa_status).toBe('enabled')
})
