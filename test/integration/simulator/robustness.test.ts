import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generated, type Service, startService } from './service.ts'

let service: Service
let paths: [string, string][]
beforeAll(async () => {
  service = await startService()
  const { id } = await service.rent({ price: 20 })
  const [offer] = await service.offers({ limit: 1 })
  paths = [
    ['POST', '/api/v0/bundles/'],
    ['PUT', `/api/v0/asks/${offer?.id}/`],
    ['PUT', `/api/v0/instances/${id}/`],
    ['POST', `/api/v0/instances/${id}/ssh/`],
    ['PUT', `/api/v0/instances/bid_price/${id}/`],
    ['POST', '/api/v0/ssh/'],
    ['POST', '/sim/clock'],
    ['POST', `/sim/instances/${id}`],
    ['POST', '/sim/account'],
    ['POST', '/sim/outbid'],
    ['POST', '/sim/credit'],
    ['POST', '/sim/top-up'],
    ['POST', '/sim/faults'],
  ]
})
afterAll(() => service.sim.close())

const names = fc.constantFrom(
  ...(
    'client_id price state label image disk env onstart runtype template_hash_id volume_info extra_filters ssh_key ' +
    'order type limit allocated_storage gpu_name verified advance actual_status legacy instance_id credit amount rules __proto__'
  ).split(' '),
)
/** JSON of any shape with the fields of the endpoints above. */
const body = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })

test('no body makes the simulator fail, and every answer is JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), body, async (pick, value) => {
      const [method, path] = paths[pick % paths.length] ?? ['POST', '/api/v0/bundles/']
      const { status } = await service.call(method, path, value)
      expect([200, 400, 404]).toContain(status)
    }),
    { numRuns: generated },
  )
})

test.each([
  '/api/v0/instances/%zz/',
  '/api/v0/instances/-1/',
  '/api/v0/instances/1e3/',
  `/api/v0/instances/${'9'.repeat(30)}/`,
])('%s has a malformed id and answers 400', async path => {
  expect((await service.call('GET', path)).status).toBe(400)
})
