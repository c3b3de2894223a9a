import { afterEach, beforeEach, expect, test } from 'vitest'
import { appCode } from './authenticator-app.ts'
import { otherThan, refused, startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'

let steps: TwoFactorSteps
beforeEach(async () => {
  steps = await startTwoFactor()
})
afterEach(() => steps.service.sim.close())

const NUMBER = '+15551230001'
const OTHER = '+15551230002'
const user = async () => (await steps.service.call('GET', '/api/v0/users/current/')).body

test('two-factor authentication is off without methods', async () => {
  expect(await steps.status()).toEqual({
    success: true,
    tfa_enabled: false,
    methods: [],
    backup_codes_remaining: 0,
    new_method_authorized: false,
  })
  expect(await user()).toMatchObject({ tfa_status: 'disabled', tfa_enabled: false })
})

test('the first method enables it and gives ten backup codes; the status has no secret', async () => {
  await steps.authorize()
  const { uri, backupCodes } = await steps.addTotp('my phone')
  expect(new Set(backupCodes).size).toBe(10)
  for (const code of backupCodes) expect(code).toMatch(/^[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}$/)
  const status = await steps.status()
  expect(status).toMatchObject({ tfa_enabled: true, backup_codes_remaining: 10 })
  expect(status.methods).toEqual([
    {
      id: expect.any(Number),
      user_id: steps.service.sim.userId,
      method: 'totp',
      label: 'my phone',
      is_primary: true,
      fail_count: 0,
      locked_until: null,
      created_at: expect.any(Number),
      last_used: expect.any(Number),
    },
  ])
  expect(JSON.stringify(status)).not.toContain(new URL(uri).searchParams.get('secret'))
  expect(await user()).toMatchObject({ tfa_status: 'enabled', tfa_enabled: true })
})

test('a second method gives no backup codes, is not primary, and shows four digits', async () => {
  await steps.authorize()
  await steps.addTotp()
  const { backupCodes } = await steps.addSms(NUMBER)
  expect(backupCodes).toEqual([])
  const { methods } = await steps.status()
  expect(methods[1]).toMatchObject({ method: 'sms', is_primary: false, phone_number: '********0001' })
})

test('authenticator codes follow real time, not world time', async () => {
  await steps.minutes(60 * 24 * 30)
  await steps.authorize()
  const { uri } = await steps.addTotp()
  const login = (code: string) => steps.tfa('POST', '', { tfa_method: 'totp', code })
  expect((await login(appCode(uri))).status).toBe(200)
  expect((await login(appCode(uri, 1))).status).toBe(200)
  const far = [appCode(uri, 20), appCode(uri, -20)].filter(
    code => ![-2, -1, 0, 1, 2].some(near => appCode(uri, near) === code),
  )
  for (const code of far) expect(await login(code)).toMatchObject(refused(400, '2fa_verification_failed'))
})

test('methods can be added for 30 minutes after an authorization', async () => {
  await steps.authorize()
  await steps.addTotp()
  await steps.minutes(29)
  expect(await steps.status()).toMatchObject({ new_method_authorized: true })
  await steps.addSms(NUMBER)
  await steps.minutes(2)
  expect(await steps.status()).toMatchObject({ new_method_authorized: false })
  const proof = await steps.smsProof({ phone_number: OTHER })
  expect(await steps.tfa('POST', 'confirm-new/', proof)).toMatchObject(refused(403, 'authorization_required'))
})

test.each(['sms', 'totp', 'email', 'backup'] as const)('%s authorizes a new method', async by => {
  await steps.authorize()
  const { uri, backupCodes } = await steps.addTotp()
  await steps.addSms(NUMBER)
  await steps.minutes(31)
  const ask = by === 'backup' ? { backup_code: backupCodes[0] } : { tfa_method: by }
  const started = await steps.tfa('POST', 'authorize-new-method/', ask)
  expect(started).toMatchObject({ status: 200, body: { success: true } })
  if (by === 'backup') {
    expect(started.body).not.toHaveProperty('secret')
  } else {
    expect(await steps.status()).toMatchObject({ new_method_authorized: false })
    const code = by === 'totp' ? appCode(uri) : (await steps.message()).code
    const confirm = { code, secret: started.body['secret'] }
    expect((await steps.tfa('PUT', 'authorize-new-method/', confirm)).status).toBe(200)
    expect((await steps.tfa('PUT', 'authorize-new-method/', confirm)).status).toBe(400)
  }
  expect(await steps.status()).toMatchObject({ new_method_authorized: true })
})

test('an authorization without methods always goes by email', async () => {
  const { body } = await steps.tfa('POST', 'authorize-new-method/', { tfa_method: 'totp' })
  expect(await steps.message()).toMatchObject({ channel: 'email', secret: body['secret'] })
})

test('five wrong codes lock only that method, for 15 minutes of world time', async () => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  await steps.addSms(NUMBER)
  const login = (code: string) => steps.tfa('POST', '', { tfa_method: 'totp', code })
  const wrong = () => otherThan(appCode(uri))
  for (let failures = 1; failures <= 4; failures++) {
    expect(await login(wrong())).toMatchObject(
      refused(400, '2fa_verification_failed', { fail_count: failures, locked_until: null }),
    )
  }
  const fifth = await login(wrong())
  expect(fifth).toMatchObject(refused(400, '2fa_verification_failed', { fail_count: 5 }))
  const until = fifth.body['locked_until'] as number
  expect(until * 1000 - fifth.date.getTime()).toBeGreaterThan(14.9 * 60_000)
  expect(until * 1000 - fifth.date.getTime()).toBeLessThan(15.1 * 60_000)
  expect(await login(appCode(uri))).toMatchObject(
    refused(429, 'tfa_locked', { fail_count: 5, locked_until: until }),
  )
  expect((await steps.status()).methods[0]).toMatchObject({ fail_count: 5, locked_until: until })
  expect((await steps.tfa('POST', '', await steps.smsProof())).status).toBe(200)
  await steps.minutes(15)
  expect((await steps.status()).methods[0]).toMatchObject({ fail_count: 0, locked_until: null })
  expect(await login(wrong())).toMatchObject(refused(400, '2fa_verification_failed', { fail_count: 1 }))
  expect((await login(appCode(uri))).status).toBe(200)
  expect((await steps.status()).methods[0]).toMatchObject({ fail_count: 0 })
})

test('label and primary method are changed, and wrong changes are refused', async () => {
  await steps.authorize()
  const totp = await steps.addTotp()
  const sms = await steps.addSms(NUMBER)
  expect(
    await steps.tfa('PUT', 'update/', { tfa_method: 'sms', label: 'the other', is_primary: true }),
  ).toMatchObject({
    status: 200,
    body: {
      success: true,
      msg: expect.any(String),
      method: { id: sms.id, label: 'the other', is_primary: true },
    },
  })
  expect((await steps.status()).methods).toMatchObject([
    { id: totp.id, is_primary: false },
    { id: sms.id, is_primary: true },
  ])
  expect((await steps.tfa('PUT', 'update/', { tfa_method_id: totp.id, label: 'x'.repeat(30) })).status).toBe(
    200,
  )
  const bad: [Record<string, unknown>, number, string][] = [
    [{ tfa_method_id: totp.id, label: 'x'.repeat(31) }, 400, 'bad_request'],
    [{ tfa_method_id: totp.id }, 400, 'bad_request'],
    [{ label: 'x' }, 400, 'bad_request'],
    [{ tfa_method: 'email', label: 'x' }, 400, 'invalid_tfa_method'],
    [{ tfa_method_id: 1, label: 'x' }, 404, 'not_found'],
  ]
  for (const [body, status, error] of bad) {
    expect(await steps.tfa('PUT', 'update/', body), JSON.stringify(body)).toMatchObject(
      refused(status, error),
    )
  }
})

test('with several methods of one kind the id is required', async () => {
  await steps.authorize()
  const one = await steps.addSms(NUMBER)
  const two = await steps.addSms(OTHER)
  expect(await steps.tfa('POST', 'sms/', {})).toMatchObject(refused(400, 'bad_request'))
  expect(await steps.tfa('PUT', 'update/', { tfa_method: 'sms', label: 'x' })).toMatchObject(
    refused(400, 'bad_request'),
  )
  const proof = await steps.smsProof({ tfa_method_id: two.id })
  expect(await steps.message()).toMatchObject({ to: OTHER })
  expect(await steps.tfa('POST', '', proof)).toMatchObject(refused(400, 'bad_request'))
  expect(await steps.tfa('POST', '', { ...proof, tfa_method_id: one.id })).toMatchObject(
    refused(400, 'phone_number_mismatch'),
  )
  expect((await steps.tfa('POST', '', { ...proof, tfa_method_id: two.id })).status).toBe(200)
})

test('a method removes itself or a target; removing the last disables two-factor', async () => {
  await steps.authorize()
  const totp = await steps.addTotp()
  const sms = await steps.addSms(NUMBER)
  const other = await steps.addSms(OTHER)
  const byCode = { tfa_method: 'totp', code: appCode(totp.uri) }
  expect(await steps.tfa('DELETE', '', { ...byCode, target_id: 1 })).toMatchObject(refused(404, 'not_found'))
  expect((await steps.tfa('DELETE', '', { ...byCode, target_id: sms.id })).body).toEqual({
    msg: expect.any(String),
    remaining_methods: 2,
  })
  expect((await steps.tfa('DELETE', '', byCode)).body).toMatchObject({ remaining_methods: 1 })
  expect((await steps.status()).methods).toMatchObject([{ id: other.id, is_primary: true }])
  const [backup = ''] = totp.backupCodes
  expect(await steps.tfa('DELETE', '', { backup_code: backup })).toMatchObject(refused(400, 'bad_request'))
  expect((await steps.tfa('DELETE', '', { backup_code: backup, target_id: other.id })).body).toEqual({
    msg: expect.any(String),
  })
  expect(await steps.status()).toMatchObject({ tfa_enabled: false, methods: [], backup_codes_remaining: 0 })
  expect(await steps.tfa('POST', '', { backup_code: totp.backupCodes[1] })).toMatchObject(
    refused(401, 'invalid_backup_code'),
  )
})

test('new backup codes replace the old ones, whatever proof was given', async () => {
  await steps.authorize()
  const { uri, backupCodes } = await steps.addTotp()
  const regen = (body: unknown) => steps.tfa('PUT', 'regen-backup-codes/', body)
  const codesOf = (answer: { body: Record<string, unknown> }) => answer.body['backup_codes'] as string[]
  const second = codesOf(await regen({ tfa_method: 'totp', code: appCode(uri) }))
  expect(second).toHaveLength(10)
  expect(await regen({ backup_code: backupCodes[0] })).toMatchObject(refused(401, 'invalid_backup_code'))
  const third = codesOf(await regen({ backup_code: second[0] }))
  expect(new Set([...second, ...third]).size).toBe(20)
  expect(codesOf(await regen(await steps.emailProof()))).toHaveLength(10)
  expect(await steps.status()).toMatchObject({ backup_codes_remaining: 10 })
})

test('without methods a proof is asked for first, and no backup codes are made', async () => {
  for (const [method, path] of [
    ['DELETE', ''],
    ['PUT', 'regen-backup-codes/'],
  ] as const) {
    expect(await steps.tfa(method, path, {})).toMatchObject(refused(400, 'missing_auth_value'))
  }
  expect(await steps.tfa('PUT', 'regen-backup-codes/', await steps.emailProof())).toMatchObject(
    refused(400, 'tfa_method_not_configured'),
  )
  expect(await steps.status()).toMatchObject({ backup_codes_remaining: 0 })
})

test('a legacy account has no methods until new backup codes turn its number into one', async () => {
  await steps.account({ legacy: true, phone_number: NUMBER })
  expect(await user()).toMatchObject({ tfa_status: 'legacy', tfa_enabled: true })
  expect(await steps.status()).toMatchObject({ tfa_enabled: true, methods: [], backup_codes_remaining: 0 })
  expect((await steps.tfa('POST', '', await steps.smsProof())).body).toMatchObject({
    legacy_tfa_user: true,
    tfa_status: 'legacy',
  })
  const answer = await steps.tfa('PUT', 'regen-backup-codes/', await steps.smsProof())
  expect(answer.body['backup_codes']).toHaveLength(10)
  expect(await steps.status()).toMatchObject({
    tfa_enabled: true,
    methods: [{ method: 'sms', phone_number: '********0001', is_primary: true }],
    backup_codes_remaining: 10,
  })
  expect(await user()).toMatchObject({ tfa_status: 'enabled' })
  expect((await steps.tfa('POST', '', await steps.smsProof())).body).not.toHaveProperty('legacy_tfa_user')
})

test('a legacy account can disable two-factor authentication', async () => {
  await steps.account({ legacy: true, phone_number: NUMBER })
  expect((await steps.tfa('DELETE', '', await steps.smsProof())).body).toEqual({ msg: expect.any(String) })
  expect(await user()).toMatchObject({ tfa_status: 'disabled', tfa_enabled: false })
})
