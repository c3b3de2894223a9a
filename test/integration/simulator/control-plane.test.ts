import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const post = (path: string, body: unknown) => service.call('POST', path, body, null)

/** A request with headers that fetch forbids. */
async function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<number> {
  const { hostname, port } = new URL(service.sim.baseUrl)
  return await new Promise((resolve, reject) => {
    const sent = request({ method, hostname, port, path, headers }, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test('the clock is advanced, and every answer is dated in world time', async () => {
  const before = (await service.call('GET', '/api/v0/users/current/')).date.getTime()
  const { body } = await post('/sim/clock', { advance: 86_400 })
  const after = await service.call('GET', '/api/v0/nothing')
  expect(Math.abs(after.date.getTime() - before - 86_400_000)).toBeLessThan(3000)
  expect(Math.abs((body['now'] as number) * 1000 - after.date.getTime())).toBeLessThan(3000)
})

test('world time runs at the given speed', async () => {
  const fast = await startService({ speed: 1000 })
  try {
    const started = performance.now()
    const first = (await fast.call('GET', '/api/v0/instances/')).date.getTime()
    await expect
      .poll(async () => (await fast.call('GET', '/api/v0/instances/')).date.getTime() - first)
      .toBeGreaterThan(500_000)
    expect(performance.now() - started).toBeGreaterThan(300)
  } finally {
    await fast.sim.close()
  }
})

test('a forced status stays over time until a command changes the instance', async () => {
  const { id } = await service.rent()
  expect((await post(`/sim/instances/${id}`, { actual_status: 'frozen' })).status).toBe(200)
  await post('/sim/clock', { advance: 3600 })
  expect(await service.instance(id)).toMatchObject({ actual_status: 'frozen' })
  await post(`/sim/instances/${id}`, { actual_status: null })
  expect(await service.instance(id)).toMatchObject({ actual_status: null })
  await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'stopped' })
  expect(await service.instance(id)).toMatchObject({ actual_status: 'stopped' })
})

test.each([
  ['/sim/clock', {}],
  ['/sim/clock', { advance: '5' }],
  ['/sim/clock', { advance: -5 }],
  ['/sim/clock', []],
  ['/sim/clock', 'x'],
  ['/sim/credit', { credit: null }],
  ['/sim/top-up', { amount: -1 }],
  ['/sim/account', { legacy: 'yes' }],
  ['/sim/account', { nonsense: true }],
  ['/sim/outbid', { instance_id: 'x' }],
  ['/sim/faults', {}],
  ['/sim/faults', { rules: [{ kind: 'explode' }] }],
  ['/sim/faults', { rules: [{ kind: 'status', path: '(' }] }],
  ['/sim/faults', { rules: [5] }],
  ['/sim/faults', { rules: [{ kind: 'status', status: 'x' }] }],
])('%s refuses %j', async (path, body) => {
  expect(await post(path, body)).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
})

test('a missing instance answers 404', async () => {
  expect((await post('/sim/instances/1', { actual_status: 'running' })).status).toBe(404)
  expect((await post('/sim/outbid', { instance_id: 1 })).status).toBe(404)
})

test('the control plane accepts only JSON, its own host and no Origin', async () => {
  const json = { 'content-type': 'application/json' }
  expect(await raw('POST', '/sim/clock', json, '{"advance":1}')).toBe(200)
  expect(await raw('POST', '/sim/clock', { 'content-type': 'text/plain' }, '{"advance":1}')).toBe(415)
  expect(await raw('POST', '/sim/clock', {}, '{"advance":1}')).toBe(415)
  expect(await raw('POST', '/sim/clock', { ...json, origin: service.sim.baseUrl }, '{"advance":1}')).toBe(403)
  expect(await raw('POST', '/sim/clock', { ...json, host: 'evil.example' }, '{"advance":1}')).toBe(403)
  expect(await raw('GET', '/sim/ledger', { host: 'evil.example' })).toBe(403)
  expect(await raw('GET', '/sim/ledger', { origin: 'null' })).toBe(403)
})

test('without a control plane its paths answer 404; the in-process controls work', async () => {
  const product = await startService({ controlPlane: false })
  try {
    expect((await product.call('GET', '/sim/ledger')).status).toBe(404)
    expect((await product.call('POST', '/sim/clock', { advance: 1 })).status).toBe(404)
    product.sim.controls.setCredit(3)
    expect((await product.call('GET', '/api/v0/users/current/')).body['credit']).toBe(3)
  } finally {
    await product.sim.close()
  }
})
