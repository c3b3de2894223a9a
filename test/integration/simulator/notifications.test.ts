import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
let prefs: string
beforeAll(async () => {
  service = await startService()
  prefs = `/api/v0/users/${service.sim.userId}/notification-prefs/`
})
afterAll(() => service.sim.close())

const hooks = '/api/v0/webhooks/'
const content = { name: 'chat', webhook_url: 'https://chat.example/hook', event_types: ['client:low_credit'] }
const create = async () => {
  const { body } = await service.call('POST', hooks, content)
  return body['webhook'] as { id: number; updated_at: number }
}

test.each([
  {},
  { notification_preferences: { client: true } },
  { notification_preferences: { client: { low_credit: true } } },
  { notification_preferences: { client: { low_credit: { email: true } } } },
  { notification_preferences: { client: { low_credit: { email: 'yes', webhooks: true } } } },
  { notification_preferences: { client: { low_credit: { email: true, webhooks: true, pager: true } } } },
  { notification_preferences: { 'cli ent': { low_credit: { email: true, webhooks: true } } } },
])('preferences %j are refused', async body => {
  const refused = { success: false, error: 'invalid_args', msg: expect.any(String) }
  expect(await service.call('PUT', prefs, body)).toMatchObject({ status: 400, body: refused })
})

test('preferences of another user are refused', async () => {
  const refused = { status: 403, body: { success: false, error: 'forbidden', msg: expect.any(String) } }
  const other = '/api/v0/users/1/notification-prefs/'
  expect(await service.call('GET', other)).toMatchObject(refused)
  expect(await service.call('PUT', other, { notification_preferences: {} })).toMatchObject(refused)
})

test('a webhook enables the preferences of its events, and reports which were off', async () => {
  await service.call('PUT', prefs, { notification_preferences: {} })
  const made = await service.call('POST', hooks, content)
  expect(made).toMatchObject({
    status: 200,
    body: {
      success: true,
      webhook: { ...content, id: expect.any(Number), user_id: service.sim.userId },
      enabled_notification_preferences: ['client:low_credit'],
    },
  })
  const { id, created_at } = made.body['webhook'] as { id: number; created_at: number }
  expect(Number.isInteger(created_at)).toBe(true)
  await service.sim.controls.advance(60)
  const event_types = ['client:low_credit', 'client:outbid']
  const changed = await service.call('PUT', `${hooks}${id}/`, { event_types })
  expect(changed).toMatchObject({
    status: 200,
    body: {
      success: true,
      webhook: { ...content, event_types, id, created_at },
      enabled_notification_preferences: ['client:outbid'],
    },
  })
  expect((changed.body['webhook'] as { updated_at: number }).updated_at).toBeGreaterThanOrEqual(
    created_at + 60,
  )
  expect((await service.call('GET', prefs)).body['notification_preferences']).toEqual({
    client: {
      low_credit: { email: false, webhooks: true },
      outbid: { email: false, webhooks: true },
    },
  })
})

test.each([
  {},
  { name: '' },
  { webhook_url: 'ftp://x.example' },
  { webhook_url: 'nonsense' },
  { event_types: ['outbid'] },
])('a change to %j is refused', async body => {
  const { id } = await create()
  const refused = { status: 400, body: { success: false, error: 'invalid_args', msg: expect.any(String) } }
  expect(await service.call('PUT', `${hooks}${id}/`, body)).toMatchObject(refused)
})

test('a webhook that is not there is not_found', async () => {
  const gone = { status: 404, body: { success: false, error: 'not_found', msg: expect.any(String) } }
  expect(await service.call('DELETE', `${hooks}1/`)).toMatchObject(gone)
  expect(await service.call('PUT', `${hooks}1/`, { name: 'x' })).toMatchObject(gone)
})
