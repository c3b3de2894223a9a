import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Offer, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const search = (body?: unknown) => service.call('POST', '/api/v0/bundles/', body)

test('a search without filters finds all offers', async () => {
  expect(await service.offers()).toHaveLength(500)
  expect((await search()).status).toBe(200)
})

test('a search filters, orders and limits offers', async () => {
  const found = await service.offers({
    gpu_name: { in: ['RTX 4090', 'RTX 3090'] },
    num_gpus: { gte: 2 },
    verified: { eq: true },
    direct_port_count: { gte: 2 },
    order: [
      ['gpu_name', 'desc'],
      ['dph_total', 'asc'],
    ],
    limit: 7,
  })
  expect(found).toHaveLength(7)
  expect(found.every(offer => /^RTX [34]090$/.test(offer.gpu_name) && offer.num_gpus >= 2)).toBe(true)
  const sorted = found.toSorted(
    (a, b) => b.gpu_name.localeCompare(a.gpu_name) || a.dph_total - b.dph_total || a.id - b.id,
  )
  expect(found).toEqual(sorted)
})

test('dph_total includes the requested storage', async () => {
  const [bare] = await service.offers({ limit: 1 })
  const [stored] = await service.offers({ id: { eq: bare?.id }, allocated_storage: 144 })
  expect(bare?.dph_total).toBe(bare?.dph_base)
  expect(stored?.dph_total).toBeCloseTo((bare?.dph_base ?? 0) + ((bare?.storage_cost ?? 0) * 144) / 720, 6)
})

test('interruptible offers cost their lowest bid', async () => {
  const [bid] = await service.offers({ type: 'bid', limit: 1 })
  expect(bid?.is_bid).toBe(true)
  expect(bid?.dph_base).toBe(bid?.min_bid)
})

test('every field has one type in all offers, and can be filtered by', async () => {
  const offers = (await service.offers()) as unknown as Record<string, unknown>[]
  const names = (
    'id machine_id host_id gpu_name num_gpus gpu_ram gpu_frac gpu_mem_bw cuda_max_good driver_version compute_cap ' +
    'cpu_name cpu_cores_effective cpu_ram disk_space disk_bw storage_cost inet_up inet_down inet_up_cost ' +
    'inet_down_cost dph_base dph_total min_bid dlperf dlperf_per_dphtotal reliability2 reliability verification ' +
    'geolocation static_ip direct_port_count duration rentable rented is_bid score'
  ).split(' ')
  const [first] = offers
  for (const name of names) {
    expect(new Set(offers.map(offer => typeof offer[name])), name).toEqual(new Set([typeof first?.[name]]))
    const found = await service.offers({ [name]: { eq: first?.[name] }, id: { eq: first?.['id'] } })
    expect(found, name).toHaveLength(1)
  }
})

test.each([
  [{ gpu_name: { like: 'RTX' } }],
  [{ gpu_name: 'RTX 4090' }],
  [{ num_gpus: { eq: '1' } }],
  [{ nonsense: { eq: 1 } }],
  [{ order: [['dph_total']] }],
  [{ order: [['dph_total', 'up']] }],
  [{ order: [['nothing', 'asc']] }],
  [{ order: [[1, 'asc']] }],
  [{ type: 'auction' }],
  [{ limit: -1 }],
  [{ allocated_storage: -1 }],
  [{ allocated_storage: 1e308 }],
])('a search with %j is refused with invalid_args', async body => {
  expect(await search(body)).toMatchObject({ status: 400, body: { success: false, error: 'invalid_args' } })
})

test('a rented offer leaves the market until its instance is destroyed', async () => {
  const [offer] = await service.offers({ limit: 1 })
  const { id } = await service.rent({}, offer)
  const ids = async (filters?: Record<string, unknown>) =>
    (await service.offers(filters)).map((o: Offer) => o.id)
  expect(await ids()).not.toContain(offer?.id)
  expect(await ids({ rentable: { eq: false } })).toEqual([offer?.id])
  expect(await ids({ rented: { eq: true } })).toEqual([offer?.id])
  const again = await service.call('PUT', `/api/v0/asks/${offer?.id}/`, { image: 'ubuntu' })
  expect(again).toMatchObject({ status: 404, body: { success: false, error: 'no_such_ask' } })
  await service.call('DELETE', `/api/v0/instances/${id}/`)
  expect(await ids()).toContain(offer?.id)
})

test('20,000 offers are searched, and the cheapest thousand are in order', async () => {
  const large = await startService({ offers: 20_000 })
  try {
    expect(await large.offers()).toHaveLength(20_000)
    const wanted = { gpu_ram: { gte: 24_000 }, order: [['dph_total', 'asc']], limit: 1000 }
    const prices = (await large.offers(wanted)).map(offer => offer.dph_total)
    expect(prices).toHaveLength(1000)
    expect(prices).toEqual(prices.toSorted((a, b) => a - b))
  } finally {
    await large.sim.close()
  }
})
