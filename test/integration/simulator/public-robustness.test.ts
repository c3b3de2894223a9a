import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { routes } from '#simulator/routes/routes.ts'
import { generated, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ deployment: publicProfile })
})
afterAll(() => service.sim.close())

const names = fc.constantFrom(
  ...(
    'client_id price state label image disk env onstart runtype template_hash_id volume_info ssh_key order type limit ' +
    'allocated_storage gpu_name q id ids instance_ids size name create_new volume_id mount_path tail filter hash_id ' +
    'template_id pending_price_increase_id webhook_url event_types src_id dst_id src_path dst_path __proto__'
  ).split(' '),
)
const body = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 })
const query = fc.dictionary(
  fc.constantFrom('limit', 'after_token', 'order_by', 'select_cols', 'select_filters', 'latest_first', 'id'),
  fc.oneof(fc.string(), fc.json({ maxDepth: 3 })),
  { maxKeys: 4 },
)

const publicRoutes = routes.filter(({ only }) => only === 'public')

test('no request to the public profile makes the simulator fail', async () => {
  const { id } = await service.rent()
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.boolean(), body, query, async (pick, known, value, words) => {
      const {
        method,
        path,
        version = 'v0',
      } = publicRoutes[pick % publicRoutes.length] ?? { method: 'GET', path: '/' }
      const filled = path.replace(/:\w+/g, known ? String(id) : '7')
      const address = `/api/${version}${filled}?${new URLSearchParams(words)}`
      const { status } = await service.call(method, address, method === 'GET' ? undefined : value)
      expect([200, 400, 403, 404, 410], `${method} ${address}`).toContain(status)
    }),
    { numRuns: generated },
  )
})
