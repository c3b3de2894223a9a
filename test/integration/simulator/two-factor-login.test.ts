import { afterEach, beforeEach, expect, test } from 'vitest'
import { appCode } from './authenticator-app.ts'
import { refused, startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'

let steps: TwoFactorSteps
beforeEach(async () => {
  steps = await startTwoFactor()
})
afterEach(() => steps.service.sim.close())

const NUMBER = '+15551230001'

test('each backup code works once, and the last one reports no remaining count', async () => {
  await steps.authorize()
  const { backupCodes } = await steps.addTotp()
  for (const [index, code] of backupCodes.entries()) {
    const typed = index % 2 ? code : ` ${code.toLowerCase()} `
    const { status, body } = await steps.tfa('POST', '', { backup_code: typed })
    expect(status).toBe(200)
    expect(body['backup_codes_remaining']).toBe(index === 9 ? undefined : 9 - index)
    expect(await steps.tfa('POST', '', { backup_code: code })).toMatchObject(
      refused(401, 'invalid_backup_code'),
    )
  }
})

test('a code sent by email or text message logs in once', async () => {
  await steps.authorize()
  await steps.addSms(NUMBER)
  for (const proof of [await steps.emailProof(), await steps.smsProof()]) {
    expect((await steps.tfa('POST', '', proof)).status).toBe(200)
    expect(await steps.tfa('POST', '', proof)).toMatchObject(refused(400, 'challenge_not_found'))
  }
})

test.each(['tfa_secret', 'secret'])(
  'the login path accepts a tfa_secret sent as %s instead of a key',
  async name => {
    await steps.authorize()
    await steps.addSms(NUMBER)
    const waiting = { [name]: await steps.tfaSecret() }
    const bare = (path: string, body: unknown) => steps.tfa('POST', path, body, null)
    expect((await bare('email/', waiting)).status).toBe(200)
    expect((await bare('sms/', waiting)).status).toBe(200)
    const resent = await bare('sms/resend/', waiting)
    expect(resent).toMatchObject({
      status: 200,
      body: { msg: expect.any(String), secret: expect.any(String) },
    })
    const { code } = await steps.message()
    const done = await bare('', { ...waiting, code })
    expect(done).toMatchObject({ status: 200, body: { id: steps.service.sim.userId } })
    expect(done.body).not.toHaveProperty('session_key')
    expect(await bare('email/', waiting)).toMatchObject(refused(403, 'auth_error'))
  },
)

test.each(['tfa_secret', 'secret'])(
  'the challenge of a login, sent as %s, is enough for the rest of it',
  async name => {
    await steps.authorize()
    await steps.addSms(NUMBER)
    const { body } = await steps.tfa('POST', 'sms/', { tfa_secret: await steps.tfaSecret() }, null)
    const { secret } = body
    const named = { [name]: secret }
    expect((await steps.tfa('POST', 'sms/resend/', named, null)).body['secret']).toBe(secret)
    const { code } = await steps.message()
    expect((await steps.tfa('POST', '', { ...named, code }, null)).status).toBe(200)
  },
)

test('the challenge of a caller with a key opens no login', async () => {
  const { secret } = await steps.emailProof()
  expect(await steps.tfa('POST', 'email/', { secret }, null)).toMatchObject(refused(403, 'auth_error'))
})

test('a scoped key reads the status with user_read, does the rest with user_write, and so does its session', async () => {
  const scoped = async (category: string) => {
    const body = { name: category, permissions: { api: { [category]: {} } } }
    return (await steps.service.call('POST', '/api/v0/auth/apikeys/', body)).body['key'] as string
  }
  const reader = await scoped('user_read')
  expect((await steps.tfa('GET', 'status/', undefined, reader)).status).toBe(200)
  expect((await steps.tfa('POST', 'totp-setup/', undefined, reader)).status).toBe(403)
  const writer = await scoped('user_write')
  expect((await steps.tfa('GET', 'status/', undefined, writer)).status).toBe(403)
  const { body } = await steps.tfa('POST', '', await steps.emailProof(), writer)
  const session = body['session_key'] as string
  expect((await steps.tfa('POST', 'totp-setup/', undefined, session)).status).toBe(200)
  expect((await steps.service.call('GET', '/api/v0/instances/', undefined, session)).status).toBe(403)
})

test('a login without a key leaves its session in a cookie', async () => {
  await steps.authorize()
  const { uri } = await steps.addTotp()
  const body = JSON.stringify({ tfa_secret: await steps.tfaSecret(), tfa_method: 'totp', code: appCode(uri) })
  const { baseUrl } = steps.service.sim
  const answer = await fetch(`${baseUrl}/api/v0/tfa/`, { method: 'POST', body })
  const cookie = answer.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/HttpOnly/)
  const [session = ''] = cookie.split(';')
  const user = await fetch(`${baseUrl}/api/v0/users/current/`, { headers: { cookie: session } })
  expect(user.status).toBe(200)
})

test('a login cannot send its code to a number that is not the account’s', async () => {
  await steps.authorize()
  await steps.addSms(NUMBER)
  const body = { tfa_secret: await steps.tfaSecret(), phone_number: '+15559998888' }
  expect(await steps.tfa('POST', 'sms/', body, null)).toMatchObject(refused(400, 'phone_number_mismatch'))
})

const rows = [
  ['GET', 'status/'],
  ['POST', ''],
  ['DELETE', ''],
  ['POST', 'email/'],
  ['POST', 'sms/'],
  ['POST', 'sms/resend/'],
  ['POST', 'totp-setup/'],
  ['POST', 'authorize-new-method/'],
  ['PUT', 'authorize-new-method/'],
  ['POST', 'confirm-new/'],
  ['PUT', 'update/'],
  ['PUT', 'regen-backup-codes/'],
] as const

test.each(rows)(
  '%s /tfa/%s needs a key, or a tfa_secret where the login path accepts it',
  async (method, path) => {
    const body = method === 'GET' ? undefined : {}
    for (const key of [null, 'wrong']) {
      expect(await steps.tfa(method, path, body, key)).toMatchObject(refused(403, 'auth_error'))
    }
    if (method === 'GET') return
    expect(await steps.tfa(method, path, { tfa_secret: 'made up' }, null)).toMatchObject(
      refused(403, 'auth_error'),
    )
    const onLoginPath = method === 'POST' && ['', 'email/', 'sms/', 'sms/resend/'].includes(path)
    const { body: answer } = await steps.tfa(method, path, { tfa_secret: await steps.tfaSecret() }, null)
    expect(answer['error'] === 'auth_error').toBe(!onLoginPath)
  },
)

test.each(rows)('%s /tfa/%s is refused in a team context', async (method, path) => {
  await steps.account({ team: true })
  const body = method === 'GET' ? undefined : {}
  expect(await steps.tfa(method, path, body)).toMatchObject(refused(403, 'team_user_forbidden'))
})
