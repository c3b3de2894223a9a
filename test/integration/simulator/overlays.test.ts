import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Offer, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ offers: 400 })
})
afterAll(() => service.sim.close())

const path = '/api/v0/overlay/'

type ClusterOffer = Offer & { cluster_id: number | null; host_id: number }

async function inClusters(): Promise<ClusterOffer[]> {
  return (await service.offers({ cluster_id: { neq: null } })) as ClusterOffer[]
}

async function largestCluster(): Promise<ClusterOffer[]> {
  const offers = await inClusters()
  const clusters = [...new Set(offers.map(({ cluster_id }) => cluster_id))]
  const inside = clusters.map(cluster => offers.filter(({ cluster_id }) => cluster_id === cluster))
  return inside.sort((a, b) => b.length - a.length)[0] ?? []
}

test('some machines are in a cluster, those of one are of one host, and offers can be searched by it', async () => {
  const all = (await service.offers()) as ClusterOffer[]
  const found = await inClusters()
  expect(found.length).toBeGreaterThan(20)
  expect(found.length).toBeLessThan(all.length / 2)
  const cluster = await largestCluster()
  const [first] = cluster
  expect(new Set(cluster.map(({ machine_id }) => machine_id)).size).toBeGreaterThanOrEqual(4)
  expect(new Set(cluster.map(({ host_id }) => host_id)).size).toBe(1)
  expect((await service.offers({ cluster_id: { eq: first?.cluster_id } })).map(({ id }) => id)).toEqual(
    cluster.map(({ id }) => id),
  )
  expect((await service.offers({ cluster_id: { eq: null } })).length).toBe(all.length - found.length)
})

test('an overlay contains instances of its own cluster, and deletes them with it', async () => {
  const [one, other] = await largestCluster()
  const outside = (await inClusters()).find(({ cluster_id }) => cluster_id !== one?.cluster_id)
  expect((await service.call('POST', path, { cluster_id: one?.cluster_id, name: 'net-1' })).status).toBe(200)
  expect((await service.call('POST', path, { cluster_id: one?.cluster_id, name: 'net-1' })).status).toBe(400)
  expect((await service.call('POST', path, { cluster_id: one?.cluster_id, name: 'Net' })).status).toBe(400)
  expect((await service.call('POST', path, { cluster_id: 999_999, name: 'net-2' })).status).toBe(404)

  const within = await service.rent({ env: { '-n net-1': '1' } }, one)
  const refused = { image: 'pytorch/pytorch', env: { '-n net-1': '1' } }
  expect((await service.call('PUT', `/api/v0/asks/${outside?.id}/`, refused)).status).toBe(400)
  const later = await service.rent({}, other)
  const alone = await service.rent({}, outside)
  expect((await service.call('PUT', path, { name: 'net-1', instance_id: later.id })).status).toBe(200)
  expect((await service.call('PUT', path, { name: 'net-1', instance_id: alone.id })).status).toBe(400)

  expect((await service.call('GET', path)).body).toEqual([
    {
      overlay_id: 1,
      name: 'net-1',
      internal_subnet: '10.0.1.0/24',
      cluster_id: one?.cluster_id,
      instances: [within.id, later.id],
    },
  ])
  expect((await service.call('DELETE', path, { overlay_name: 'net-1' })).status).toBe(200)
  expect((await service.call('GET', path)).body).toEqual([])
  const left = (await service.call('GET', '/api/v0/instances/')).body['instances'] as { id: number }[]
  expect(left.map(({ id }) => id)).toEqual([alone.id])
  expect((await service.call('DELETE', path, { overlay_id: 1 })).status).toBe(404)
})
