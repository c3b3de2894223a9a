import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { FaultInput } from '#simulator/http/faults.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterEach(() => service.sim.controls.setFaults([]))
afterAll(() => service.sim.close())

const fault = (rule: FaultInput) => service.sim.controls.setFaults([rule])
const count = async () => (await service.call('GET', '/api/v0/instances/')).body['instances_found'] as number

async function create(signal?: AbortSignal): Promise<Response> {
  const [offer] = await service.offers({ limit: 1 })
  return await fetch(`${service.sim.baseUrl}/api/v0/asks/${offer?.id}/`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.sim.apiKey}` },
    body: JSON.stringify({ image: 'ubuntu' }),
    ...(signal ? { signal } : {}),
  })
}

test.each([
  ['reset', 0],
  ['reset_after', 1],
] as const)('%s breaks the connection and creates %i instances', async (kind, made) => {
  const before = await count()
  fault({ method: 'PUT', path: '^/api/v0/asks/', kind, times: 1 })
  await expect(create()).rejects.toThrow()
  expect((await count()) - before).toBe(made)
  const logged = service.sim.controls.requests().findLast(request => request.method === 'PUT')
  expect(logged).toMatchObject({ path: expect.stringContaining('/asks/'), status: 0, fault: kind })
  expect((await create()).status).toBe(200)
})

test.each([
  ['hang', 0],
  ['hang_after', 1],
] as const)('%s never answers and creates %i instances', async (kind, made) => {
  const before = await count()
  fault({ method: 'PUT', path: '/asks/', kind })
  const leaving = new AbortController()
  const left = expect(create(leaving.signal)).rejects.toThrow()
  await expect.poll(async () => (await count()) - before).toBe(made)
  setTimeout(() => leaving.abort(), 300)
  await left
  expect((await count()) - before).toBe(made)
})

test('status answers with a status and a code, and creates nothing', async () => {
  const before = await count()
  fault({ method: 'PUT', path: '/asks/', kind: 'status', status: 503, error: 'service_unavailable' })
  const response = await create()
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ success: false, error: 'service_unavailable' })
  expect(await count()).toBe(before)
})

test('delay creates the instance and answers late', async () => {
  const before = await count()
  fault({ method: 'PUT', path: '/asks/', kind: 'delay', ms: 250 })
  const started = performance.now()
  expect((await create()).status).toBe(200)
  expect(performance.now() - started).toBeGreaterThan(200)
  expect(await count()).toBe(before + 1)
})

test('garbage is a 200 that is not JSON', async () => {
  fault({ path: '/users/current/', kind: 'garbage', times: 1 })
  const url = `${service.sim.baseUrl}/api/v0/users/current/`
  const response = await fetch(url, { headers: { authorization: `Bearer ${service.sim.apiKey}` } })
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(() => JSON.parse(text)).toThrow(SyntaxError)
})

test('wrong_types is valid JSON of the wrong shape', async () => {
  fault({ path: '/instances/', kind: 'wrong_types', times: 1 })
  const answer = await service.call('GET', '/api/v0/instances/')
  expect(answer.status).toBe(200)
  expect(answer.body['instances_found']).not.toEqual(expect.any(Number))
  expect(Array.isArray(answer.body['instances'])).toBe(false)
})

test('times counts down, rules apply in order, and the control plane is exempt', async () => {
  service.sim.controls.setFaults([
    { path: '', kind: 'status', status: 500, times: 2 },
    { path: '', kind: 'status', status: 502, times: 1 },
  ])
  expect((await fetch(`${service.sim.baseUrl}/sim/ledger`)).status).toBe(200)
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await service.call('GET', '/api/v0/instances/')).status)
  expect(statuses).toEqual([500, 500, 502, 200])
})
