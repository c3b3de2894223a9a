import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LeapingClock } from '#test/berth/clocks.ts'
import { clientOf, failure, json, raw, ScriptedService } from './scripted-service.ts'

let service: ScriptedService
beforeEach(async () => {
  service = await ScriptedService.start()
})
afterEach(() => service.stop())

const client = () => clientOf(service, new LeapingClock())

test.each([
  [401, { success: false, msg: 'This needs a Two Factor Authentication session.' }, 'tfa_needed'],
  [401, { error: 'auth_error', msg: 'Two Factor Authentication required' }, 'tfa_needed'],
  [401, { error: 'auth_error', msg: 'Invalid user key' }, 'auth_error'],
  [401, { error: 'invalid_backup_code', msg: 'Two Factor Authentication failed' }, 'invalid_backup_code'],
  [403, { msg: 'Two Factor Authentication is set by the team' }, 'forbidden'],
])('a %d %j becomes %s', async (status, body, code) => {
  service.otherwise = json(body, status)
  expect(await failure(client().instances.stop(3))).toMatchObject({ code, status, detail: body.msg })
})

describe('redirects', () => {
  test('to another origin are refused, and nothing is sent there', async () => {
    const other = await ScriptedService.start()
    service.otherwise = raw('', 307, { location: `${other.baseUrl}/api/v0/instances/` })
    expect(await failure(client().instances.list())).toMatchObject({ code: 'redirected', status: 307 })
    expect(await failure(client().instances.destroy(4))).toMatchObject({
      code: 'redirected',
      ambiguous: false,
    })
    expect(other.requests).toEqual([])
    await other.stop()
  })

  test('within the origin are followed with the same method, body and key', async () => {
    service.script = [raw('', 308, { location: '/api/v0/instances/4' })]
    service.otherwise = json({ success: true })
    await client().instances.rename(4, 'b')
    expect(service.requests.map(request => request.url)).toEqual([
      '/api/v0/instances/4/',
      '/api/v0/instances/4',
    ])
    expect(service.requests[1]).toMatchObject({ method: 'PUT', body: '{"label":"b"}' })
    expect(service.requests[1]?.headers.authorization).toBe('Bearer k-1234567890')
  })

  test.each([
    ['turn a write into a read', raw('', 302, { location: '/login' })],
    ['turn a write to something else', raw('', 307, { location: '/api/v0/instances/5/' })],
    ['have credentials', raw('', 307, { location: 'http://a:b@127.0.0.1/' })],
    ['lead nowhere', raw('', 307)],
    ['go round in circles', raw('', 307, { location: '/api/v0/instances/4/' })],
  ])('that %s are refused', async (_, reply) => {
    service.otherwise = reply
    expect(await failure(client().instances.stop(4))).toMatchObject({ code: 'redirected' })
  })
})

describe('an answer', () => {
  test.each([
    ['not JSON', raw('<html>'), '$'],
    ['empty', raw(''), '$'],
    ['no object', json([]), '$'],
    ['without the list', json({}), '$.instances'],
    ['without a list in it', json({ instances: 'none' }), '$.instances'],
    ['with null for the list', json({ instances: null }), '$.instances'],
  ])('that is %s is bad, and says where', async (_, reply, path) => {
    service.otherwise = reply
    expect(await failure(client().instances.list())).toMatchObject({ code: 'bad_answer', path, status: 200 })
  })

  test('keeps unknown fields, and drops known ones of a wrong type', async () => {
    const row = {
      id: 1,
      actual_status: 'new word',
      dph_total: 'dear',
      gpu_util: 3,
      label: null,
      more: { a: [1] },
    }
    service.otherwise = json({ instances: [row] })
    const [instance] = (await client().instances.list()).instances
    expect(instance).toEqual({ id: 1, actual_status: 'new word', gpu_util: 3, more: { a: [1] } })
    expect(instance?.dph_total).toBeUndefined()
  })

  test('with one instance may omit the requested id', async () => {
    service.otherwise = json({ instances: { actual_status: null, ssh_host: 'h', ssh_port: 22 } })
    expect(await client().instances.one(12)).toMatchObject({ id: 12, actual_status: null })
  })

  test.each([
    [404, raw('Not Found', 404), 'not_supported'],
    [405, json({}, 405), 'not_supported'],
    [404, json({ error: 'not_found', msg: 'no such webhook' }, 404), 'not_found'],
  ])('%d on an operation beyond the interface is %s', async (_, reply, code) => {
    service.otherwise = reply
    expect(await failure(client().webhooks.remove(1))).toMatchObject({ code })
  })

  test('404 on a list that the interface does not have always means that the service has none', async () => {
    service.otherwise = json({ error: 'not_found' }, 404)
    expect(await failure(client().machines.list())).toMatchObject({ code: 'not_supported' })
  })
})
