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

test('an authorization without methods always goes by email', async () => {
  const { body } = await steps.tfa('POST', 'authorize-new-method/', { tfa_method: 'totp' })
  expect(await steps.message()).toMatchObject({ channel: 'email', secret: body['secret'] })
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

test.each(['sms', 'totp'] as const)('%s authorizes a new method, once', async by => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  await steps.addSms(NUMBER)
  await steps.minutes(31)
  const { body } = await steps.tfa('POST', 'authorize-new-method/', { tfa_method: by })
  expect(await steps.status()).toMatchObject({ new_method_authorized: false })
  const code = by === 'totp' ? appCode(uri) : (await steps.message()).code
  const confirm = () => steps.tfa('PUT', 'authorize-new-method/', { code, secret: body['secret'] })
  expect([(await confirm()).status, (await confirm()).status]).toEqual([200, 400])
  expect(await steps.status()).toMatchObject({ new_method_authorized: true })
})

test('five wrong codes in a row lock their method alone', async () => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  await steps.addSms(NUMBER)
  const login = (code: string) => steps.tfa('POST', '', { tfa_method: 'totp', code })
  for (let time = 1; time <= 4; time++) await login(otherThan(appCode(uri)))
  expect((await login(appCode(uri))).status).toBe(200)
  for (let time = 1; time <= 5; time++) await login(otherThan(appCode(uri)))
  expect(await login(appCode(uri))).toMatchObject(refused(429, 'tfa_locked', { fail_count: 5 }))
  expect((await steps.tfa('POST', '', await steps.smsProof())).status).toBe(200)
})

test('wrong changes of a method are refused', async () => {
  await steps.authorize()
  const { id } = await steps.addTotp()
  const label = 'x'.repeat(30)
  expect((await steps.tfa('PUT', 'update/', { tfa_method_id: id, label })).status).toBe(200)
  const bad: [Record<string, unknown>, number, string][] = [
    [{ tfa_method_id: id, label: `${label}x` }, 400, 'bad_request'],
    [{ tfa_method_id: id }, 400, 'bad_request'],
    [{ label }, 400, 'bad_request'],
    [{ tfa_method: 'email', label }, 400, 'invalid_tfa_method'],
    [{ tfa_method_id: 1, label }, 404, 'not_found'],
  ]
  for (const [body, status, error] of bad)
    expect(await steps.tfa('PUT', 'update/', body), JSON.stringify(body)).toMatchObject(
      refused(status, error),
    )
})

test('a legacy account logs in as one, and can disable two-factor authentication', async () => {
  await steps.account({ legacy: true, phone_number: NUMBER })
  const login = await steps.tfa('POST', '', await steps.smsProof())
  expect(login.body).toMatchObject({ legacy_tfa_user: true, tfa_status: 'legacy' })
  expect((await steps.tfa('DELETE', '', await steps.smsProof())).body).toEqual({ msg: expect.any(String) })
  expect(await user()).toMatchObject({ tfa_status: 'disabled', tfa_enabled: false })
})
