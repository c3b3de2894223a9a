import { TOTP } from 'otpauth'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { accountNow } from '#shared/derived.ts'
import { codeOf } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

let world: World
let berth: BerthUnderTest

beforeEach(async () => {
  world = await createWorld({ speed: 2 })
  berth = await world.startConnected()
})
afterEach(() => world.close())

async function lastCode(): Promise<string> {
  const { messages } = await world.control<{ messages: { code: string }[] }>('GET', '/sim/outbox')
  return messages.at(-1)?.code ?? ''
}

/** Gives the account an authenticator. */
async function withAuthenticator(): Promise<{ app: TOTP; backupCodes: readonly string[] }> {
  const { secret: challenge } = await berth.run('authorizeNewMethod', { by: { with: 'email' } })
  await berth.run('confirmNewMethods', { code: await lastCode(), secret: challenge ?? '' })
  const { secret } = await berth.run('setUpTotp', {})
  const app = new TOTP({ secret })
  const { backupCodes } = await berth.run('addMethod', {
    method: { kind: 'totp', code: app.generate(), secret, label: 'app' },
  })
  return { app, backupCodes: backupCodes ?? [] }
}

const sessionEntry = () => [...world.keychain.entries].find(([name]) => name.endsWith(' session'))

test('an email code sent again completes the same authorization', async () => {
  const begun = await berth.run('authorizeNewMethod', { by: { with: 'email' } })
  const first = await lastCode()
  const { secret } = await berth.run('sendEmailCode', { secret: begun.secret })
  expect(await lastCode()).not.toBe(first)
  await berth.run('confirmNewMethods', { code: await lastCode(), secret })
  expect(await berth.run('twoFactorStatus', {})).toMatchObject({ mayAdd: true })
  for (const method of ['POST', 'PUT'])
    expect(world.requests(method, '/authorize-new-method/')).toHaveLength(1)
})

test('a login with two factors gives a session key, which is kept beside the API key and preferred after a restart', async () => {
  const { app } = await withAuthenticator()
  const answer = await berth.run('twoFactorLogin', {
    proof: { with: 'totp', code: app.generate() },
    admin: false,
  })
  expect(answer).toMatchObject({ session: true, legacy: false })
  const [, sessionKey] = sessionEntry() ?? []
  expect(sessionKey).toBeDefined()
  expect([...world.keychain.entries.values()]).toContain(world.sim.apiKey)
  await berth.until(() => berth.account().connection.status === 'online')

  // Once the API key is revoked, only the session key works.
  const own = (await berth.run('listApiKeys', {})).find(key => key.inUse)
  expect(own).toBeDefined()
  await berth.run('deleteApiKey', { id: own?.id ?? 0 })
  berth = await world.restart(berth)
  expect(JSON.stringify(berth.berth.state())).not.toContain(sessionKey)
})

test('replacing the API key deletes the session key of the old one', async () => {
  const { app } = await withAuthenticator()
  await berth.run('twoFactorLogin', { proof: { with: 'totp', code: app.generate() }, admin: false })
  await berth.run('replaceKey', { account: berth.account().id, key: world.sim.apiKey })
  expect(sessionEntry()).toBeUndefined()
})

test('the window to add a method has its end, in account time', async () => {
  await withAuthenticator()
  const { clock } = berth.account()
  const status = await berth.run('twoFactorStatus', {})
  expect(status).toMatchObject({ enabled: true, mayAdd: true, backupCodesRemaining: 10 })
  const left = (status.mayAddUntil ?? 0) - clock.serverAt / 1000
  expect(left).toBeGreaterThan(1700)
  expect(left).toBeLessThan(1900)
  await world.control('POST', '/sim/clock', { advance: 1801 })
  const later = await berth.run('twoFactorStatus', {})
  expect(later.mayAdd).toBe(false)
  expect(later).not.toHaveProperty('mayAddUntil', expect.anything())
})

test('a backup code authorizes a new method, logs in, is counted and works once', async () => {
  const { backupCodes } = await withAuthenticator()
  const [first = '', second = '', third = ''] = backupCodes
  expect(await berth.run('authorizeNewMethod', { by: { with: 'backup', backupCode: first } })).toEqual({
    granted: true,
  })
  const login = await berth.run('twoFactorLogin', {
    proof: { with: 'backup', backupCode: second.toLowerCase() },
    admin: true,
  })
  expect(login).toMatchObject({ session: true, backupCodesRemaining: 8 })
  expect(
    await codeOf(berth.run('regenerateBackupCodes', { proof: { with: 'backup', backupCode: first } })),
  ).toBe('invalid_backup_code')
  const codes = await berth.run('regenerateBackupCodes', {
    proof: { with: 'backup', backupCode: third },
  })
  expect(codes).toHaveLength(10)
})

test('a wrong code is refused with a count, and the fifth locks until a given time', async () => {
  const { app } = await withAuthenticator()
  const [method] = (await berth.run('twoFactorStatus', {})).methods
  const right = app.generate()
  const code = right === '000000' ? '000001' : '000000'
  const attempt = () =>
    berth.run('removeMethod', { proof: { with: 'totp', code }, method: method?.id }).catch(error => error)
  expect(await attempt()).toMatchObject({ problem: { code: '2fa_verification_failed', failCount: 1 } })
  for (const _ of [2, 3, 4]) await attempt()
  const { problem } = await attempt()
  expect(problem.lockedUntil - berth.account().clock.serverAt / 1000).toBeGreaterThan(800)
  expect(await attempt()).toMatchObject({
    problem: { code: 'tfa_locked', lockedUntil: problem.lockedUntil },
  })
})

test('a phone is verified by a code, which is only resent, then labelled and removed', async () => {
  const { app } = await withAuthenticator()
  const phone = '+1 555 123 4567'
  await berth.run('sendSmsCode', { request: { phone } })
  expect(await codeOf(berth.run('sendSmsCode', { request: { phone } }))).toBe('tfa_challenge_exists')
  const { secret } = await berth.run('resendSmsCode', { request: { phone } })
  await berth.run('addMethod', { method: { kind: 'sms', code: await lastCode(), secret, phone } })
  const sms = (await berth.run('twoFactorStatus', {})).methods.find(({ kind }) => kind === 'sms')
  expect(sms?.phone).toMatch(/^\*+4567$/)
  const changed = await berth.run('updateMethod', { method: sms?.id ?? 0, label: 'mobile', primary: true })
  expect(changed).toMatchObject({ label: 'mobile', primary: true })
  expect(
    await berth.run('removeMethod', { proof: { with: 'totp', code: app.generate() }, method: sms?.id }),
  ).toEqual({ remaining: 1 })
})

test('an email code is proof enough to remove a method', async () => {
  await withAuthenticator()
  const { secret } = await berth.run('sendEmailCode', {})
  const [method] = (await berth.run('twoFactorStatus', {})).methods
  const code = await lastCode()
  expect(
    await berth.run('removeMethod', { proof: { with: 'email', code, secret }, method: method?.id }),
  ).toEqual({ remaining: 0 })
  await berth.until(() => berth.account().tfaStatus === 'disabled')
})

test('a legacy account gets backup codes by text message and a phone method', async () => {
  await world.control('POST', '/sim/account', { legacy: true, phone_number: '+15551234567' })
  await berth.run('refresh', {})
  expect(berth.account().tfaStatus).toBe('legacy')
  expect(await berth.run('twoFactorStatus', {})).toMatchObject({
    enabled: true,
    status: 'legacy',
    methods: [],
  })
  const { secret } = await berth.run('sendSmsCode', { request: {} })
  const codes = await berth.run('regenerateBackupCodes', {
    proof: { with: 'sms', code: await lastCode(), secret },
  })
  expect(codes).toHaveLength(10)
  expect((await berth.run('twoFactorStatus', {})).methods).toMatchObject([{ kind: 'sms' }])
})

test('a scoped key’s secret is only in its answer, and a missing permission is named', async () => {
  const made = await berth.run('createApiKey', {
    request: { name: 'reader', permissions: { user_read: {}, instance_read: { id: [7] } } },
  })
  expect(made.permissions).toEqual({ user_read: {}, instance_read: { id: [7] } })
  const { secret } = made
  const listed = await berth.run('listApiKeys', {})
  expect(listed.find(({ id }) => id === made.id)).toMatchObject({
    name: 'reader',
    masked: `…${secret.slice(-4)}`,
  })
  expect(listed.filter(key => key.inUse)).toHaveLength(1)
  expect(JSON.stringify([berth.berth.state(), listed])).not.toContain(secret)

  // Limits couldn't act with it.
  expect(await berth.run('replaceKey', { account: berth.account().id, key: secret })).toContain(
    'instance_write',
  )
  await berth.until(() => berth.account().connection.status === 'online')
  await expect(
    berth.run('createApiKey', { request: { name: 'x', permissions: { misc: {} } } }),
  ).rejects.toMatchObject({
    problem: { code: 'forbidden', message: expect.stringContaining('lacks the permission user_write') },
  })
  expect((await berth.run('listApiKeys', {})).find(key => key.inUse)?.id).toBe(made.id)
})

test('the permissions of a new key are false where the account disables them', async () => {
  await world.control('POST', '/sim/account', { permissions_disabled: true })
  const made = await berth.run('createApiKey', { request: { name: 'k', permissions: { misc: {} } } })
  expect(made.permissions).toBe(false)
})

test('changing a preference keeps changes made elsewhere', async () => {
  const before = await berth.run('readPreferences', {})
  const outbid = { email: false, webhooks: true }
  const { client: others } = before
  const { baseUrl, apiKey, userId } = world.sim
  const elsewhere = createClient({ baseUrl: parseBaseUrl(baseUrl), key: apiKey })
  await elsewhere.account.replaceNotificationPreferences(userId, {
    ...before,
    client: { ...others, outbid },
  })
  const preferences = { client: { low_credit: { email: false, webhooks: true } } }
  expect(await berth.run('changePreferences', { preferences })).toMatchObject(preferences)
  expect(await berth.run('readPreferences', {})).toEqual({
    ...before,
    client: { ...others, ...preferences.client, outbid },
  })
})

test('Berth’s public SSH key is added to the account, and a private key is refused', async () => {
  const [own] = await berth.run('sshKeys', {})
  const publicKey = own?.publicKey ?? ''
  await berth.run('addAccountSshKey', { publicKey })
  expect(await berth.run('listAccountSshKeys', {})).toMatchObject([{ publicKey }])
  await expect(
    berth.run('addAccountSshKey', { publicKey: '-----BEGIN OPENSSH PRIVATE KEY-----' }),
  ).rejects.toMatchObject({ problem: { code: 'not_a_public_key', field: 'publicKey' } })
})

test('the credit history is kept over a restart, and spending is given as a table', async () => {
  await berth.until(() => berth.account().credit !== undefined)
  const from = accountNow(berth.account().clock, Date.now()) - 300
  const ahead = () => berth.account().clock.serverAt - berth.account().clock.localAt
  const before = ahead()
  await world.control('POST', '/sim/clock', { advance: 600 })
  await berth.until(() => ahead() > before + 300_000)
  await world.control('POST', '/sim/credit', { credit: 12 })
  await berth.poll(2)
  const { samples } = await berth.run('moneyHistory', { from, samples: 100, days: 100 })
  // A new sample may begin between two polls, with the same credit.
  expect([...new Set(samples.map(({ credit }) => credit))]).toEqual([25_000_000, 12_000_000])
  await berth.close()
  berth = await world.start()
  const again = await berth.run('moneyHistory', { from, samples: 100, days: 100 })
  expect(again.samples.slice(0, samples.length)).toEqual(samples)
  expect(await berth.run('spendingTable', { rows: 'days' })).toMatch(
    /^day,spent_usd,topped_up_usd,credit_usd,estimated,as_charged\r\n\d/,
  )
})
