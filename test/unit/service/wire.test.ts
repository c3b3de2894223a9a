import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import type { DialectMemory } from '#service/dialect.ts'
import type { Route } from '#simulator/http/route.ts'
import { routes } from '#simulator/routes/routes.ts'
import { LeapingClock } from '#test/berth/clocks.ts'
import { rows, user } from './right-answers.ts'
import { json, raw, ScriptedService } from './scripted-service.ts'

let service: ScriptedService

beforeAll(async () => {
  service = await ScriptedService.start()
})
afterAll(() => service.stop())

test.each(rows)(
  '%s is sent as the interface says, and its answer understood',
  async (request, sent, answer, call, gives) => {
    service.otherwise = json(answer)
    const client = createClient({ baseUrl: service.baseUrl, key: 'k-1', clock: new LeapingClock(), dialect })
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
  const { twoFactor } = createClient({ baseUrl: service.baseUrl, key: 'k' })
  service.otherwise = json({ ...user, secret: 'challenge' })
  await twoFactor.sendSms({ tfa_secret: 'login' })
  await twoFactor.login({ tfa_secret: 'login', secret: 'challenge', code: '123456' })
  const sent = service.requests.slice(-2)
  expect(sent.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  expect(sent.map(({ body }) => JSON.parse(body).secret)).toEqual(['login', 'challenge'])
})

const dialect: DialectMemory = { get: () => ({ list: 'v0' }), set: () => undefined }
const client = () => createClient({ baseUrl: service.baseUrl, key: 'k', clock: new LeapingClock(), dialect })

test('an API key counts as deleted when the service confirms in plain text, not in HTML', async () => {
  const words = raw('Successfully deleted', 200, { 'content-type': 'text/plain; charset=utf-8' })
  service.script = [words, json('Successfully deleted')]
  await client().apiKeys.remove(7)
  await client().apiKeys.remove(7)
  service.otherwise = raw('<html>Welcome</html>', 200, { 'content-type': 'text/html' })
  await expect(client().apiKeys.remove(7)).rejects.toMatchObject({ code: 'bad_answer' })
})

describe('a list of invoices', () => {
  const invoice = { type: 'credit', amount: -5 }

  test('continues with a numeric token, and without an invalid row', async () => {
    service.script = [
      json({ results: [invoice, null], next_token: 7 }),
      json({ results: [invoice], next_token: null }),
    ]
    const { rows, whole } = await client().charges.invoices(1, 2)
    expect([rows, whole]).toEqual([[invoice, invoice], false])
    expect(service.requests.at(-1)?.url).toContain('after_token=7')
  })

  test('returns the first pages if there are too many', async () => {
    service.otherwise = json({ results: [invoice], next_token: 'a' })
    service.script = Array.from({ length: 40 }, (_, page) =>
      json({ results: [invoice], next_token: `t${page}` }),
    )
    const { rows, whole } = await client().charges.invoices(1, 2)
    expect([rows.length, whole]).toEqual([40, false])
  })
})

test('templates without a name are listed', async () => {
  service.otherwise = json({ templates: [{ hash_id: 'a', name: null, image: 'x' }, { hash_id: 'b' }] })
  expect((await client().templates.search({})).map(({ hash_id }) => hash_id)).toEqual(['a', 'b'])
})

test.each([
  [200, { success: false, error: 'resources_unavailable', msg: 'state change queued.' }, true],
  [200, { success: false, error: 'resources_unavailable' }, true],
  [200, { success: false, msg: 'Required resources are currently unavailable, state change queued.' }, true],
  [503, { error: 'resources_unavailable', detail: 'state change queued' }, true],
  [200, { success: true }, false],
])('a start answered with %d %j is queued: %s', async (status, body, queued) => {
  const before = service.requests.length
  service.otherwise = json(body, status)
  expect(await client().instances.start(3)).toEqual({ queued })
  expect(service.requests).toHaveLength(before + 1)
})

test('a start that is refused for another reason is not queued, nor is a stop', async () => {
  service.otherwise = json({ success: false, error: 'missing_billing', msg: 'No credit.' })
  await expect(client().instances.start(3)).rejects.toMatchObject({ code: 'refused', ambiguous: false })
  service.otherwise = json({ success: false, msg: 'state change queued' })
  await expect(client().instances.stop(3)).rejects.toMatchObject({ code: 'refused', ambiguous: false })
})

test('an answer about a locked method says until when', async () => {
  service.otherwise = json({ error: 'tfa_locked', msg: 'x', fail_count: 5, locked_until: 99 }, 429)
  await expect(client().twoFactor.login({ code: '1' })).rejects.toMatchObject({
    code: 'tfa_locked',
    failCount: 5,
    lockedUntil: 99,
  })
})
