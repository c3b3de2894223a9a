import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseBaseUrl } from '../../../electron/service/base-url.ts'
import { createClient, type ServiceClient } from '../../../electron/service/client.ts'
import { identify } from '../../../electron/service/identify.ts'
import { ServiceError } from '../../../electron/service/service-error.ts'
import { everyCall } from './every-call.ts'
import { json, raw, ScriptedService } from './scripted-service.ts'
import { HurriedClock } from './virtual-clock.ts'

let service: ScriptedService
let client: ServiceClient

beforeAll(async () => {
  service = await ScriptedService.start()
  client = createClient({ baseUrl: service.baseUrl, key: 'k', retries: 0, clock: new HurriedClock() })
})
afterAll(() => service.stop())

/** Any JSON, and such as comes close to an answer of the interface. */
const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(null), fc.integer(), fc.boolean())
const record = fc.dictionary(
  fc.constantFrom(
    ...[
      'id',
      'hash_id',
      'name',
      'success',
      'new_contract',
      'actual_status',
      'ssh_port',
      'dph_total',
      'ports',
      'msg',
    ],
    ...[
      'email',
      'credit',
      'tfa_status',
      'error',
      'detail',
      'secret',
      'method',
      '__proto__',
      'length',
      'toString',
    ],
  ),
  value,
)
const body = fc.oneof(
  fc.jsonValue(),
  record,
  fc.array(record),
  fc.dictionary(
    fc.constantFrom(
      'instances',
      'offers',
      'apikeys',
      'templates',
      'template',
      'webhook',
      'methods',
      'success',
    ),
    fc.oneof(value, record, fc.array(record)),
  ),
)

const methods = Object.keys(everyCall(createClient({ baseUrl: parseBaseUrl('https://a.example'), key: 'k' })))

test.each(methods)('%s: any JSON is a value or a ServiceError, never another exception', async method => {
  const call = everyCall(client)[method] ?? expect.fail(method)
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom(200, 200, 200, 400, 404, 429, 500), async (answer, status) => {
      service.otherwise = json(answer, status)
      const thrown = await call().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (thrown !== undefined) expect(thrown).toBeInstanceOf(ServiceError)
    }),
    { numRuns: 50 },
  )
})

test('every method of the client is called here', () => {
  const all = Object.entries(client).flatMap(([group, calls]) =>
    Object.keys(calls).map(method => `${group}.${method}`),
  )
  expect(methods.sort()).toEqual(all.sort())
})

test('an instance that is accepted has its promised fields in their types', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(record), async rows => {
      service.otherwise = json({ instances: rows })
      const list = await client.instances.list().catch(() => [])
      for (const instance of list) {
        expect(Number.isInteger(instance.id)).toBe(true)
        expect(['number', 'undefined']).toContain(typeof instance.dph_total)
        expect(['object', 'undefined']).toContain(typeof instance.ports)
      }
    }),
    { numRuns: 100 },
  )
})

const user = { id: 1, email: 'a@b.c', credit: 1.5, tfa_status: 'disabled' }

test.each([
  ['a web page', raw('<!doctype html><title>Hello</title>', 200, { 'content-type': 'text/html' })],
  ['a web page that says 404', raw('<html>', 404)],
  ['JSON of another kind', json({ hello: 'world' })],
  ['a list', json([user])],
  ['nothing', raw('')],
])('%s is not this service', async (_, reply) => {
  service.otherwise = reply
  await expect(identify(client)).rejects.toMatchObject({ code: 'not_this_service' })
})

test('this service is, whatever else it tells of the user', async () => {
  service.otherwise = json({ ...user, more: 1, ssh_key: null })
  expect(await identify(client)).toMatchObject({ ...user, more: 1 })
})

test('a wrong key is told from a wrong address', async () => {
  service.otherwise = json({ success: false, msg: 'no' }, 401)
  await expect(identify(client)).rejects.toMatchObject({ code: 'unauthorized', detail: 'no' })
})
