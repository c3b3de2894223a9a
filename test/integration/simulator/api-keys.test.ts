import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const path = '/api/v0/auth/apikeys/'
const create = (body: unknown, key?: string) => service.call('POST', path, body, key)
const scoped = async (...categories: string[]) => {
  const api = Object.fromEntries(categories.map(category => [category, {}]))
  const { body } = await create({ name: categories.join(' '), permissions: { api } })
  return { id: body['id'] as number, key: body['key'] as string }
}
const list = async () => (await service.call('GET', path)).body['apikeys'] as Record<string, unknown>[]

test('a key is listed with its rights, constraints and team', async () => {
  const permissions = { api: { user_read: {}, instance_read: { params: { id: { eq: 5 } } } } }
  const { body } = await create({ name: 'ci', permissions, key_params: { note: 'x' } })
  expect((await list()).find(({ id }) => id === body['id'])).toMatchObject({
    ...{ rights: 'user_read,instance_read', permissions, key_params: { note: 'x' } },
    ...{ user_id: service.sim.userId, team_id: expect.any(Number), team_name: expect.any(String) },
  })
})

test.each([
  [{ name: 'x' }, 'missing_permissions'],
  [{ name: 'x', permissions: {} }, 'missing_permissions'],
  [{ name: 'x', permissions: { api: {} } }, 'missing_permissions'],
  [{ name: 'x', permissions: { api: { everything: {} } } }, 'invalid_permissions'],
  [{ name: 'x', permissions: { api: { misc: true } } }, 'invalid_permissions'],
  [{ name: 'x', permissions: { api: ['misc'] } }, 'invalid_permissions'],
  [{ name: 'x', permissions: { user_read: {} } }, 'invalid_permissions'],
  [{ permissions: { api: { misc: {} } } }, 'invalid_args'],
  [{ name: '', permissions: { api: { misc: {} } } }, 'invalid_args'],
])('a creation with %j is refused: %s', async (body, error) => {
  expect(await create(body)).toMatchObject({
    status: 400,
    body: { success: false, error, msg: expect.any(String) },
  })
})

test('a scoped key cannot create a key with permissions it lacks', async () => {
  const { key } = await scoped('user_write', 'user_read')
  const give = (category: string) => create({ name: 'x', permissions: { api: { [category]: {} } } }, key)
  expect((await give('user_read')).status).toBe(200)
  expect(await give('instance_write')).toMatchObject({ status: 400, body: { error: 'invalid_permissions' } })
})

const byCategory: Record<string, [string, string][]> = {
  misc: [
    ['POST', '/bundles/'],
    ['POST', '/workergroups/'],
    ['GET', '/workergroups/'],
  ],
  user_read: [
    ['GET', '/users/current/'],
    ['GET', '/auth/apikeys/'],
    ['GET', '/template/'],
    ['GET', '/tfa/status/'],
    ['GET', '/users/1/notification-prefs/'],
    ['GET', '/webhooks/'],
  ],
  user_write: [
    ['POST', '/auth/apikeys/'],
    ['DELETE', '/auth/apikeys/1/'],
    ['POST', '/template/'],
    ['PUT', '/template/'],
    ['DELETE', '/template/'],
    ['POST', '/tfa/totp-setup/'],
    ['PUT', '/users/1/notification-prefs/'],
    ['POST', '/webhooks/'],
    ['PUT', '/webhooks/1/'],
    ['DELETE', '/webhooks/1/'],
  ],
  instance_read: [
    ['GET', '/instances/'],
    ['GET', '/instances/1/'],
  ],
  instance_write: [
    ['PUT', '/asks/1/'],
    ['PUT', '/instances/1/'],
    ['DELETE', '/instances/1/'],
    ['PUT', '/instances/bid_price/1/'],
    ['POST', '/instances/1/ssh/'],
    ['PUT', '/commands/copy_direct/'],
    ['DELETE', '/commands/copy_direct/'],
    ['POST', '/commands/rclone/'],
    ['DELETE', '/commands/rclone/'],
  ],
  machine_read: [
    ['GET', '/machines'],
    ['GET', '/network_disk/'],
  ],
  machine_write: [
    ['POST', '/network_disk/'],
    ['PUT', '/machines/1/cancel_maint'],
    ['PUT', '/machines/1/cleanup'],
  ],
}

test.each(Object.keys(byCategory))('a key with %s alone reaches its endpoints and no others', async own => {
  const { key } = await scoped(own)
  for (const [category, endpoints] of Object.entries(byCategory)) {
    for (const [method, endpoint] of endpoints) {
      const body = method === 'GET' ? undefined : {}
      const { status, body: answer } = await service.call(method, `/api/v0${endpoint}`, body, key)
      const lacked = status === 403 && String(answer['msg']).startsWith('This key lacks the permission')
      expect(lacked, `${method} ${endpoint}`).toBe(category !== own)
    }
  }
})

test('a deleted key is refused, and deleting it again is not_found', async () => {
  const { id, key } = await scoped('user_read')
  expect(await service.call('DELETE', `${path}${id}/`)).toMatchObject({
    status: 200,
    body: { success: true },
  })
  expect((await service.call('GET', path, undefined, key)).status).toBe(401)
  expect(await service.call('DELETE', `${path}${id}/`)).toMatchObject({
    status: 404,
    body: { error: 'not_found' },
  })
  expect((await list()).map(listed => listed['id'])).not.toContain(id)
})

test('the list of keys answers 400 to a key without Bearer, 401 to a wrong one', async () => {
  const ask = (authorization: string) => fetch(service.sim.baseUrl + path, { headers: { authorization } })
  const answer = await ask(service.sim.apiKey)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toEqual({ success: false, msg: expect.any(String) })
  expect((await ask('Bearer nobody')).status).toBe(401)
})
