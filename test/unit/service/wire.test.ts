import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import type { DialectMemory } from '#service/dialect.ts'
import type { Route } from '#simulator/http/route.ts'
import { routes } from '#simulator/routes/routes.ts'
import { rows, user } from './right-answers.ts'
import { json, ScriptedService } from './scripted-service.ts'
import { HurriedClock } from './virtual-clock.ts'

let service: ScriptedService

beforeAll(async () => {
  service = await ScriptedService.start()
})
afterAll(() => service.stop())

test.each(rows)(
  '%s is sent as the interface says, and its answer understood',
  async (request, sent, answer, call, gives) => {
    service.otherwise = json(answer)
    const dialect: DialectMemory = { get: () => ({ list: 'v0' }), set: () => undefined }
    const client = createClient({ baseUrl: service.baseUrl, key: 'k-1', clock: new HurriedClock(), dialect })
    expect(await call(client)).toEqual(gives)
    const seen = service.requests.at(-1)
    expect(`${seen?.method} ${seen?.url}`).toBe(request.replace(/ \/(?!api\/)/, ' /api/v0/'))
    expect(seen?.headers.authorization).toBe('Bearer k-1')
    if (sent === '') return expect(seen?.body).toBe('')
    expect(JSON.parse(seen?.body ?? '')).toEqual(sent)
    expect(seen?.headers['content-type']).toBe('application/json')
  },
)

test('every operation of the client and every route of the interface has a row', () => {
  const client = createClient({ baseUrl: parseBaseUrl('https://a.example'), key: 'k' })
  const operations = Object.entries(client).flatMap(([group, methods]) =>
    Object.keys(methods).map(method => `${group}.${method}`),
  )
  const called = new Set(
    rows.map(([, , , call]) => (/\bc\s*\.\s*(\w+)\s*\.\s*(\w+)/.exec(String(call)) ?? []).slice(1).join('.')),
  )
  expect(operations.filter(operation => !called.has(operation))).toEqual([])
  const requests = rows.map(([request]) => request.replace(/\?.*$/, '').replace(/ \/(?!api\/)/, ' /api/v0/'))
  const own = routes.filter(({ only }) => only === undefined)
  expect(own.filter(route => !requests.some(request => answers(route, request)))).toEqual([])
})

function answers({ method, path, version }: Route, request: string): boolean {
  const pattern = `^${method} /api/${version ?? 'v0'}${path.replace(/:\w+/g, '[^/]+').replace(/\/$/, '')}/?$`
  return new RegExp(pattern).test(request)
}

test('a 404 on SSH keys means none, but a bad key and a missing operation are errors', async () => {
  const { account } = createClient({ baseUrl: service.baseUrl, key: 'k' })
  service.otherwise = json({ success: false, msg: 'No ssh keys found' }, 404)
  expect(await account.listSshKeys()).toEqual([])
  service.otherwise = json({ success: false, error: 'auth_error', msg: 'Invalid user key' }, 404)
  await expect(account.listSshKeys()).rejects.toMatchObject({ keyRefused: true })
  service.otherwise = json({}, 405)
  await expect(account.listSshKeys()).rejects.toMatchObject({ code: 'not_supported' })
})

test('a list may be JSON within a string', async () => {
  const { account } = createClient({ baseUrl: service.baseUrl, key: 'k' })
  service.otherwise = json({ success: true, ssh_keys: '[{"id":1,"public_key":"ssh-ed25519 AAAA"}]' })
  expect(await account.listSshKeys()).toMatchObject([{ id: 1, ssh_key: 'ssh-ed25519 AAAA' }])
  service.otherwise = json({ success: true, ssh_keys: 'none' })
  await expect(account.listSshKeys()).rejects.toMatchObject({ code: 'bad_answer' })
})

test('unset values of preferences and webhooks may be null or missing', async () => {
  const { account, webhooks } = createClient({ baseUrl: service.baseUrl, key: 'k' })
  const preferences = { client: { low_credit: { email: null, webhooks: true }, outbid: {} } }
  service.otherwise = json({ success: true, notification_preferences: preferences })
  expect(await account.notificationPreferences(1)).toEqual({
    known: { client: { low_credit: { webhooks: true }, outbid: {} } },
    whole: preferences,
  })
  const hook = { id: 7, name: null, webhook_url: 'https://h.example', event_types: null, created_at: 1.5 }
  service.otherwise = json({ webhooks: [hook] })
  expect(await webhooks.list()).toMatchObject([{ id: 7, event_types: [], created_at: 1.5 }])
})

test('a path prefix of the base URL is kept', async () => {
  service.otherwise = json(user)
  const baseUrl = `${service.baseUrl}/market` as typeof service.baseUrl
  await createClient({ baseUrl, key: 'k' }).account.currentUser()
  expect(service.requests.at(-1)?.url).toBe('/market/api/v0/users/current/')
})

test('the login path sends the login’s own secret and no key', async () => {
  const client = createClient({ baseUrl: service.baseUrl, key: 'k' })
  service.otherwise = json({ msg: 'm', secret: 'challenge' })
  await client.twoFactor.sendSms({ tfa_secret: 'login' })
  expect(service.requests.at(-1)?.headers.authorization).toBeUndefined()
  expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toEqual({ tfa_secret: 'login', secret: 'login' })
  service.otherwise = json(user)
  await client.twoFactor.login({ tfa_secret: 'login', secret: 'challenge', code: '123456' })
  expect(service.requests.at(-1)?.headers.authorization).toBeUndefined()
  expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toMatchObject({ secret: 'challenge' })
})
