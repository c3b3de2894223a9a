import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const endpoints = [
  ['GET', '/api/v0/users/current/'],
  ['POST', '/api/v0/bundles/'],
  ['PUT', '/api/v0/asks/1/'],
  ['GET', '/api/v0/instances/'],
  ['GET', '/api/v0/instances/1/'],
  ['PUT', '/api/v0/instances/1/'],
  ['DELETE', '/api/v0/instances/1/'],
  ['POST', '/api/v0/instances/1/ssh/'],
  ['PUT', '/api/v0/instances/bid_price/1/'],
  ['PUT', '/api/v0/instances/reboot/1/'],
  ['GET', '/api/v0/ssh/'],
  ['POST', '/api/v0/ssh/'],
] as const

test.each(endpoints)('%s %s needs a key that is known', async (method, path) => {
  const body = method === 'GET' ? undefined : {}
  for (const key of [null, 'wrong']) {
    const answer = await service.call(method, path, body, key)
    expect(answer).toMatchObject({ status: 401, body: { success: false, msg: expect.any(String) } })
  }
})

test('an instance’s key only starts, stops and destroys that instance', async () => {
  const one = await service.rent()
  const two = await service.rent()
  const as = (method: string, path: string, body?: unknown) => service.call(method, path, body, one.key)
  expect((await as('PUT', `/api/v0/instances/${one.id}/`, { state: 'stopped' })).status).toBe(200)
  expect((await as('PUT', `/api/v0/instances/${one.id}/`, { state: 'running' })).status).toBe(200)
  expect((await as('PUT', `/api/v0/instances/${one.id}/`, { label: 'x' })).status).toBe(403)
  expect((await as('PUT', `/api/v0/instances/${two.id}/`, { state: 'stopped' })).status).toBe(403)
  expect((await as('DELETE', `/api/v0/instances/${two.id}/`)).status).toBe(403)
  expect((await as('GET', `/api/v0/instances/${one.id}/`)).status).toBe(403)
  for (const [method, path] of endpoints) {
    if (path === '/api/v0/instances/1/') continue
    expect((await as(method, path, method === 'GET' ? undefined : {})).status, path).toBe(403)
  }
  expect((await as('DELETE', `/api/v0/instances/${one.id}/`)).status).toBe(200)
  expect(await service.instance(two.id)).toMatchObject({ id: two.id })
})

test('paths work without the trailing slash, and unknown ones answer 404', async () => {
  expect((await service.call('GET', '/api/v0/instances')).status).toBe(200)
  expect((await service.call('GET', '/api/v0/nothing/')).status).toBe(404)
  expect((await service.call('PATCH', '/api/v0/instances/', {})).status).toBe(404)
})

test('each endpoint has its own token bucket, which refills in real time', async () => {
  const limited = await startService({ limits: true })
  try {
    const bid = () => limited.call('PUT', '/api/v0/instances/bid_price/1/', { client_id: 'me', price: 1 })
    const began = performance.now()
    const burst = await Promise.all(Array.from({ length: 40 }, bid))
    const seconds = (performance.now() - began) / 1000
    const through = burst.filter(answer => answer.status === 404).length
    expect(through).toBeGreaterThanOrEqual(5)
    // The bucket refills during the burst.
    expect(through).toBeLessThanOrEqual(Math.ceil(5.5 * (1 + seconds)))
    expect(burst.find(answer => answer.status === 429)?.body['detail']).toMatch(/5\.5/)
    expect((await limited.call('GET', '/api/v0/instances/')).status).toBe(200)
    await expect.poll(async () => (await bid()).status, { timeout: 150_000, interval: 50 }).toBe(404)
  } finally {
    await limited.sim.close()
  }
})
