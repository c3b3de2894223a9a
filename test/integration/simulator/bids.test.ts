import { afterAll, beforeAll, expect, test } from 'vitest'
import { machineFate, machineRival } from '#simulator/world/instances/plan.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const bid = (id: number, body: unknown) => service.call('PUT', `/api/v0/instances/bid_price/${id}/`, body)

async function interruptible(share: number, more: Record<string, unknown> = {}) {
  const [offer] = await service.offers({ type: 'bid', limit: 1, min_bid: { gt: 0.1 } })
  if (!offer) throw new Error('no offer')
  const price = Math.round(offer.min_bid * share * 1000) / 1000
  return { offer, price, ...(await service.rent({ price, ...more }, offer)) }
}

test('an instance with a price is interruptible and costs its bid', async () => {
  const { id, price } = await interruptible(1.2)
  await service.sim.controls.advance(300)
  expect(await service.instance(id)).toMatchObject({
    is_bid: true,
    dph_base: price,
    actual_status: 'running',
  })
})

test('a bid below min_bid creates a stopped instance, or fails with cancel_unavail', async () => {
  const { id, offer } = await interruptible(0.5)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'stopped', intended_status: 'running' })
  await service.call('DELETE', `/api/v0/instances/${id}/`)
  const body = { image: 'ubuntu', price: 0.01, cancel_unavail: true }
  const refused = await service.call('PUT', `/api/v0/asks/${offer.id}/`, body)
  expect(refused).toMatchObject({ status: 400, body: { success: false, error: 'bid_too_low' } })
  expect(await service.offers({ id: { eq: offer.id } })).toHaveLength(1)
})

test('an outbid instance stops with the intent to run; a winning bid resumes it', async () => {
  const { id, price } = await interruptible(1.1)
  await service.sim.controls.advance(300)
  await service.sim.controls.outbid(id)
  const outbid = await service.instance(id)
  expect(outbid).toMatchObject({ actual_status: 'stopped', intended_status: 'running' })
  const needed = outbid['min_bid'] as number
  expect(needed).toBeGreaterThan(price)
  await bid(id, { client_id: 'me', price: needed - 0.001 })
  expect(await service.instance(id)).toMatchObject({ actual_status: 'stopped' })
  expect(await bid(id, { client_id: 'me', price: needed })).toMatchObject({
    status: 200,
    body: { success: true },
  })
  await service.sim.controls.advance(60)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'running', dph_base: needed })
  await bid(id, { client_id: 'me', price: 0.001 })
  expect(await service.instance(id)).toMatchObject({ actual_status: 'stopped', intended_status: 'running' })
})

test.each(['exited', 'offline', 'unknown'])('outbid, an %s instance stays so', async status => {
  const { id, price } = await interruptible(1.1)
  await service.sim.controls.forceStatus(id, status)
  await bid(id, { client_id: 'me', price: 0.001 })
  expect(await service.instance(id)).toMatchObject({ actual_status: status })
  await bid(id, { client_id: 'me', price })
  await service.sim.controls.outbid(id)
  const outbid = await service.instance(id)
  expect(outbid).toMatchObject({ actual_status: status, intended_status: 'running' })
  expect(outbid['min_bid']).toBeGreaterThan(price)
  await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'running' })
  expect(await service.instance(id)).toMatchObject({ actual_status: 'stopped', intended_status: 'running' })
})

test('a stopped instance stays stopped, however high its bid', async () => {
  const { id } = await interruptible(1.1)
  await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'stopped' })
  await bid(id, { client_id: 'me', price: 30 })
  await service.sim.controls.advance(60)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'stopped', intended_status: 'stopped' })
})

test.each([
  {},
  { price: 1 },
  { client_id: 'me' },
  { client_id: 'me', price: 0.0009 },
  { client_id: 'me', price: 32.01 },
])('a bid of %j is refused with invalid_args', async body => {
  const { id } = await interruptible(1.1)
  expect(await bid(id, body)).toMatchObject({ status: 400, body: { success: false, error: 'invalid_args' } })
  await service.call('DELETE', `/api/v0/instances/${id}/`)
})

test('the lowest and the highest bid are accepted', async () => {
  const { id } = await interruptible(1.1)
  expect((await bid(id, { client_id: 'me', price: 0.001 })).status).toBe(200)
  expect((await bid(id, { client_id: 'me', price: 32 })).status).toBe(200)
})

test('rivals outbid an instance on a contested machine', async () => {
  const rough = await startService({ calm: false })
  try {
    const offers = await rough.offers({ type: 'bid' })
    const offer = offers.find(({ machine_id }) => (machineRival(7, machine_id, 1)?.factor ?? 0) > 1.3)
    const { id } = await rough.rent({ price: (offer?.min_bid ?? 0) * 1.1 }, offer)
    await rough.sim.controls.advance(6 * 3600)
    const instance = await rough.instance(id)
    expect(instance).toMatchObject({ intended_status: 'running' })
    expect(instance['min_bid']).toBeGreaterThan(instance['dph_base'] as number)
  } finally {
    await rough.sim.close()
  }
})

test('a rival stops no instance whose container is gone', async () => {
  const rough = await startService({ calm: false, flaky: 1 })
  try {
    const offers = await rough.offers({ type: 'bid' })
    const offer = offers.find(({ machine_id }) => {
      const { trouble } = machineFate(7, machine_id, 1)
      const rival = machineRival(7, machine_id, 1)
      return trouble?.kind === 'exited' && trouble.whileLoading && (rival?.factor ?? 0) > 1.3
    })
    const { id } = await rough.rent({ price: (offer?.min_bid ?? 0) * 1.1 }, offer)
    await rough.sim.controls.advance(6 * 3600)
    const instance = await rough.instance(id)
    expect(instance).toMatchObject({ actual_status: 'exited', intended_status: 'running' })
    expect(instance['min_bid']).toBeGreaterThan(instance['dph_base'] as number)
  } finally {
    await rough.sim.close()
  }
})
