import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Service, startService } from './service.ts'

const LIST = '/api/v1/instances/'
const RETIRED = '/api/v0/instances/'

let service: Service
beforeAll(async () => {
  service = await startService({ deployment: publicProfile })
  const offers = await service.offers({ limit: 31 })
  for (const [index, offer] of offers.entries()) {
    await service.rent(index % 3 === 0 ? { label: 'third' } : {}, offer)
  }
  await service.sim.controls.advance(600)
})
afterEach(async () => {
  await service.call('POST', '/sim/deployment', { deployment: 'public' })
})
afterAll(() => service.sim.close())

const set = (values: Record<string, unknown>) => service.call('POST', '/sim/deployment', values)

async function page(query: Record<string, unknown> = {}) {
  const words = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const answer = await service.call('GET', `${LIST}?${new URLSearchParams(Object.fromEntries(words))}`)
  return { status: answer.status, body: answer.body, ids: idsOf(answer.body) }
}

function idsOf(body: Record<string, unknown>): number[] {
  return ((body['instances'] ?? []) as ({ id: number } | null)[]).map(row => row?.id ?? 0)
}

test('instances come in pages of 25, the next by token', async () => {
  const first = await page({ limit: 100 })
  expect(first.body).toMatchObject({
    success: true,
    instances_found: 25,
    total_instances: 31,
    label_counts: { third: 11, '': 20 },
    next_token: expect.any(String),
  })
  const second = await page({ after_token: first.body['next_token'] })
  expect(second.body).toMatchObject({ instances_found: 6, total_instances: 31, next_token: null })
  expect(new Set([...first.ids, ...second.ids]).size).toBe(31)
  expect(first.ids).toEqual(first.ids.toSorted((a, b) => a - b))
})

test('a limit below one gives five instances', async () => {
  expect((await page({ limit: 0 })).ids).toHaveLength(5)
  expect((await page({ limit: -3 })).ids).toHaveLength(5)
})

test('a list is filtered, ordered and limited to columns', async () => {
  const third = await page({
    select_filters: { label: { eq: 'third' }, actual_status: { notin: ['exited'] } },
    order_by: [{ col: 'id', dir: 'desc' }],
    select_cols: ['id', 'label', 'nothing'],
    limit: 4,
  })
  expect(third.body).toMatchObject({ instances_found: 4, total_instances: 11 })
  expect(third.ids).toEqual(third.ids.toSorted((a, b) => b - a))
  expect((third.body['instances'] as unknown[])[0]).toEqual({
    id: third.ids[0],
    label: 'third',
    nothing: null,
  })
})

test.each([
  [{ select_filters: { dph_total: { gt: 1 } } }, 'invalid_request'],
  [{ order_by: [{ col: 'num_gpus', dir: 'asc' }] }, 'invalid_request'],
  [{ select_filters: 'no json' }, 'invalid_request'],
  [{ after_token: 'nonsense' }, 'invalid_token'],
])('a list with %j is refused with %s', async (query, error) => {
  expect(await page(query)).toMatchObject({ status: 400, body: { success: false, error } })
})

test.each([
  ['v0', 200, { instances_found: 31 }],
  ['v0-paged', 200, { instances_found: 25 }],
  ['v0-410', 410, { success: false, error: 'deprecated_endpoint' }],
  ['v0-200-deprecated', 200, { success: false, error: 'deprecated_endpoint' }],
  ['v0-success-false', 200, { success: false }],
  ['v0-empty', 200, { success: true, instances_found: 0, instances: [] }],
])('list=%s sets the answer of the retired list', async (list, status, body) => {
  await set({ list })
  expect(await service.call('GET', RETIRED)).toMatchObject({ status, body })
})

test('v1 can be missing, and its token can repeat forever', async () => {
  await set({ v1: '404' })
  expect((await page()).status).toBe(404)
  await set({ v1: 'repeats' })
  const first = await page()
  const again = await page({ after_token: first.body['next_token'] })
  expect(again.body['next_token']).toBe(first.body['next_token'])
})

test('a missing instance is null, or 404 with single=404', async () => {
  const path = '/api/v0/instances/1/'
  expect(await service.call('GET', path)).toMatchObject({ status: 200, body: { instances: null } })
  await set({ single: '404' })
  expect((await service.call('GET', path)).status).toBe(404)
})

test.each([
  ['null', { gpu_util: null, end_date: null, ssh_port: expect.any(Number) }],
  ['text', { id: expect.any(Number), ssh_port: expect.any(String), dph_total: expect.any(String) }],
])('records=%s changes the fields of the first instance', async (records, first) => {
  await set({ records })
  expect((await page()).body['instances']).toMatchObject([first, ...Array(24).fill({})])
})

test('records can lack optional fields, and one row can be null or malformed', async () => {
  await set({ records: 'missing' })
  expect(((await page()).body['instances'] as object[])[0]).not.toHaveProperty('geolocation')
  await set({ records: 'null-row' })
  expect(((await page()).body['instances'] as unknown[]).slice(0, 2)).toEqual([null, expect.any(Object)])
  await set({ records: 'bad-row' })
  expect((await page()).body['instances']).toMatchObject([
    { id: expect.any(Number), ssh_port: [expect.any(String)] },
    ...Array(24).fill({}),
  ])
})

test.each([
  ['GET', '/api/v0/volumes/', 401, { detail: 'Authentication credentials were not provided.' }],
  ['POST', '/api/v0/volumes/search/', 401, { detail: 'Authentication credentials were not provided.' }],
  ['GET', '/api/v0/auth/apikeys/', 400, { success: false, msg: expect.any(String) }],
  ['GET', '/api/v0/charges/', 403, { success: false, error: 'auth_error', msg: expect.any(String) }],
])('%s %s without a key is %d', async (method, path, status, body) => {
  const answer = await service.call(method, path, method === 'GET' ? undefined : {}, null)
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body })
})

test('bodies may have null for missing values and text for numbers', async () => {
  const [offer] = await service.offers({ limit: '1', allocated_storage: '10' })
  const rented = await service.call('PUT', `/api/v0/asks/${offer?.id}/`, {
    client_id: 'me',
    image: 'ubuntu',
    disk: '10',
    price: null,
    label: null,
    onstart: null,
    template_hash_id: null,
  })
  expect(rented).toMatchObject({ status: 200, body: { success: true } })
  const path = `/api/v0/instances/${rented.body['new_contract']}/`
  expect((await service.call('GET', path)).body).toMatchObject({
    instances: { is_bid: false, label: null, disk_space: 10 },
  })
  await service.call('DELETE', path)
})

test.each([
  { nothing: 1 },
  { list: 'v2' },
  { page: 26 },
  { deployment: 'private' },
  { deployment: 'interface', list: 'v0-empty' },
])('the profile %j is refused and changes nothing', async values => {
  expect((await set(values)).status).toBe(400)
  expect((await service.call('GET', RETIRED)).status).toBe(410)
})

test('the deployment changes to the interface and back while it runs', async () => {
  await set({ deployment: 'interface' })
  expect((await service.call('GET', RETIRED)).body['instances_found']).toBe(31)
  expect((await service.call('GET', LIST)).status).toBe(404)
  expect((await service.call('GET', '/api/v0/instances/1/')).status).toBe(404)
  await set({ deployment: 'public' })
  expect((await service.call('GET', RETIRED)).status).toBe(410)
})
