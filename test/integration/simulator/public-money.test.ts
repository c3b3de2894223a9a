import { afterEach, beforeEach, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeEach(async () => {
  service = await startService({ deployment: publicProfile })
})
afterEach(() => service.sim.close())

/** Rents an offer with paid traffic. */
async function rentWithTraffic() {
  const [offer] = await service.offers({
    inet_down_cost: { gte: 0.005 },
    inet_up_cost: { gte: 0.005 },
    limit: 1,
  })
  return await service.rent({ disk: 20 }, offer)
}

test.each(['offline', 'unknown'])('an instance costs nothing while its host is gone: %s', async status => {
  const { id } = await rentWithTraffic()
  await service.sim.controls.advance(400)
  const running = await service.instance(id)
  await service.sim.controls.forceStatus(id, status)
  const spent = () => service.sim.controls.ledger().micro_dollars
  const before = spent()
  await service.sim.controls.advance(36_000)
  expect(spent()).toBe(before)
  expect(await service.instance(id)).toMatchObject({
    instance: { diskHour: 0, totalHour: 0 },
    search: running['search'],
    storage_total_cost: running['storage_total_cost'],
    dph_total: running['dph_total'],
  })
  await service.call('PUT', `/api/v0/instances/${id}/`, { state: 'stopped' })
  await service.sim.controls.advance(3600)
  expect(spent()).toBeGreaterThan(before)
})

test('traffic is counted, charged by its price and taken off the credit', async () => {
  const { id } = await rentWithTraffic()
  await service.sim.controls.advance(2 * 3600)
  const { body: ledger } = await service.call('GET', '/sim/ledger')
  const [total] = ledger['instances'] as Record<string, number>[]
  const { inet_down_billed, inet_up_billed, inet_down_cost, inet_up_cost } = (await service.instance(id)) as {
    [name: string]: number
  }
  const gigabytes = (kib: number | undefined) => (kib ?? 0) / 1024 ** 2
  const expected =
    gigabytes(inet_down_billed) * (inet_down_cost ?? 0) + gigabytes(inet_up_billed) * (inet_up_cost ?? 0)
  expect(expected).toBeGreaterThan(0.01)
  expect((total?.['traffic_micro_dollars'] ?? 0) / 1e6).toBeCloseTo(expected, 3)
  expect(ledger['credit']).toBeCloseTo(25 - (total?.['micro_dollars'] ?? 0) / 1e6, 5)
})

test('the interface profile charges nothing for traffic', async () => {
  await service.call('POST', '/sim/deployment', { deployment: 'interface' })
  await rentWithTraffic()
  await service.sim.controls.advance(3600)
  const { body } = await service.call('GET', '/sim/ledger')
  expect((body['instances'] as object[])[0]).not.toHaveProperty('traffic_micro_dollars')
})

test('without credit all instances stop at that moment, and only their disks are charged', async () => {
  const bid = await service.rent({ price: 0.5, disk: 20 })
  const { id } = await rentWithTraffic()
  await service.sim.controls.advance(600)
  await service.sim.controls.outbid(bid.id)
  const before = service.sim.controls.ledger()
  await service.call('POST', '/sim/credit', { credit: 0.1 })
  await service.sim.controls.advance(36_000)
  const { charges, micro_dollars, credit } = service.sim.controls.ledger()
  for (const one of [id, bid.id])
    expect(await service.instance(one)).toMatchObject({
      actual_status: 'exited',
      cur_state: 'stopped',
      next_state: 'stopped',
      intended_status: 'stopped',
    })
  const end = Math.max(...charges.filter(({ kind }) => kind === 'gpu').map(({ to }) => to))
  const later = charges
    .filter(({ kind }) => kind === 'disk')
    .reduce((sum, { micro_dollars_per_hour: rate, to }) => sum + (rate * Math.max(0, to - end)) / 3600, 0)
  expect(later).toBeGreaterThan(1000)
  expect(Math.abs(micro_dollars - before.micro_dollars - later - 100_000)).toBeLessThan(20)
  expect(credit).toBeCloseTo(-later / 1e6, 4)
})

test('without credit nothing is rented or started until something is paid in', async () => {
  const { id } = await service.rent()
  await service.sim.controls.advance(400)
  await service.call('POST', '/sim/credit', { credit: 0 })
  const start = () => service.call('PUT', `/api/v0/instances/${id}/`, { state: 'running' })
  const [offer] = await service.offers({ limit: 1 })
  const rent = () => service.call('PUT', `/api/v0/asks/${offer?.id}/`, { image: 'ubuntu' })
  expect(await start()).toMatchObject({ status: 400, body: { error: 'missing_billing' } })
  expect(await rent()).toMatchObject({ status: 400, body: { error: 'insufficient_credit' } })
  await service.call('POST', '/sim/top-up', { amount: 5 })
  expect(await service.instance(id)).toMatchObject({ actual_status: 'exited' })
  expect([(await start()).status, (await rent()).status]).toEqual([200, 200])
  await service.sim.controls.advance(400)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'running' })
})

test('credit lasts longer once another instance has ended', async () => {
  const [one, two] = [await service.rent(), await service.rent()]
  await service.sim.controls.advance(600)
  const { micro_dollars: before } = service.sim.controls.ledger()
  await service.sim.controls.advance(3600)
  const { now, micro_dollars } = service.sim.controls.ledger()
  await service.call('POST', `/sim/instances/${one.id}`, { end_date: now + 3600 })
  await service.call('POST', '/sim/credit', { credit: ((micro_dollars - before) / 1e6) * 2 })
  await service.sim.controls.advance(2.2 * 3600)
  expect(await service.instance(one.id)).toMatchObject({ status_msg: 'The contract is over' })
  expect(await service.instance(two.id)).toMatchObject({ actual_status: 'running' })
  await service.sim.controls.advance(7 * 3600)
  expect(await service.instance(two.id)).toMatchObject({ status_msg: 'No credit is left' })
})

test('the interface profile continues without credit', async () => {
  await service.call('POST', '/sim/deployment', { deployment: 'interface' })
  const { id } = await service.rent()
  await service.call('POST', '/sim/credit', { credit: 0 })
  await service.sim.controls.advance(600)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'running' })
  await service.rent()
})

test('an accepted price increase applies when the contract is extended', async () => {
  await service.call('POST', '/sim/credit', { credit: 10_000 })
  const { id } = await rentWithTraffic()
  await service.sim.controls.advance(400)
  const told = await service.instance(id)
  const before = told['dph_base'] as number
  const gpus = told['num_gpus'] as number
  const ask = () => service.call('POST', '/sim/price-increase', { instance_id: id, factor: 1.5 })
  const pending = () => service.call('GET', '/api/v0/instances/pending-price-increases/')
  const answer = (word: string, body: unknown) =>
    service.call('PUT', `/api/v0/instances/${word}-price-increase/`, body)
  const first = { pending_price_increase_id: (await ask()).body['pending_price_increase_id'] }
  const { body } = await pending()
  expect(body).toMatchObject({ count: 1, truncated: false })
  const [row] = body['pending_price_increases'] as Record<string, number>[]
  expect(row).toMatchObject({ ...first, contract_id: id })
  expect((row?.['old_gpu_costpersec'] ?? 0) * 3600 * gpus).toBeCloseTo(before, 6)
  expect((row?.['new_gpu_costpersec'] ?? 0) * 3600 * gpus).toBeCloseTo(before * 1.5, 6)
  expect((row?.['old_disk_ram_costpersec'] ?? 0) * 3600 * 720).toBeCloseTo(told['storage_cost'] as number, 6)
  expect((await answer('reject', { ...first, instance_id: id })).status).toBe(400)
  expect((await answer('reject', first)).body).toMatchObject({ success: true, contract_id: id })
  expect((await pending()).body['count']).toBe(0)
  expect(await answer('accept', first)).toMatchObject({
    status: 404,
    body: { error: 'no_pending_price_increase' },
  })
  const second = { pending_price_increase_id: (await ask()).body['pending_price_increase_id'] }
  expect((await answer('accept', second)).status).toBe(200)
  const { contract_end_date: end, ask_end_date: newEnd } = row ?? {}
  expect(await service.instance(id)).toMatchObject({ dph_base: before, end_date: end })
  const { body: ledger } = await service.call('GET', '/sim/ledger')
  await service.sim.controls.advance((end ?? 0) - (ledger['now'] as number) + 60)
  expect(await service.instance(id)).toMatchObject({ end_date: newEnd, actual_status: 'running' })
  expect((await service.instance(id))['dph_base']).toBeCloseTo(before * 1.5, 5)
})
