import { afterEach, beforeEach, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeEach(async () => {
  service = await startService({ deployment: publicProfile })
})
afterEach(() => service.sim.close())

const path = (id: number) => `/api/v0/instances/${id}/`
const state = (id: number, wanted: string) => service.call('PUT', path(id), { state: wanted })

test('a new instance goes from no status to created to running', async () => {
  const { id } = await service.rent()
  expect(await service.instance(id)).toMatchObject({ actual_status: null, cur_state: 'running', ports: null })
  await service.sim.controls.advance(3)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'created' })
  await service.sim.controls.advance(300)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'running', next_state: 'running' })
})

test.each([
  ['running', 'running'],
  ['stopped', 'stopped'],
])('outbid=%s: an outbid instance is exited, with the intent %s', async (outbid, intended) => {
  await service.call('POST', '/sim/deployment', { outbid })
  const [offer] = await service.offers({ type: 'bid', limit: 1 })
  const { id } = await service.rent({ price: (offer?.min_bid ?? 0) * 1.1 }, offer)
  await service.sim.controls.advance(400)
  await service.sim.controls.outbid(id)
  const shown = await service.instance(id)
  expect(shown).toMatchObject({ actual_status: 'exited', cur_state: 'stopped', intended_status: intended })
  expect(shown['min_bid']).toBeGreaterThan(shown['dph_base'] as number)
})

test('a start is queued while the GPUs are taken, and can be cancelled', async () => {
  const { id } = await service.rent()
  await service.sim.controls.advance(400)
  await state(id, 'stopped')
  await service.call('POST', '/sim/deployment', { start: 'queued' })
  const answer = await state(id, 'running')
  expect(answer).toMatchObject({
    status: 200,
    body: { success: false, msg: expect.stringContaining('queued') },
  })
  const waiting = { actual_status: 'exited', cur_state: 'stopped', next_state: 'running' }
  expect(await service.instance(id)).toMatchObject({ ...waiting, intended_status: 'running' })
  await state(id, 'stopped')
  expect(await service.instance(id)).toMatchObject({ next_state: 'stopped', intended_status: 'stopped' })
  await state(id, 'running')
  await service.call('POST', '/sim/deployment', { start: 'boots' })
  await service.sim.controls.advance(60)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'running' })
})

test('an instance stops before the end of its contract and cannot start again', async () => {
  const { id } = await service.rent()
  await service.sim.controls.advance(400)
  const ends = (await service.instance(id))['start_date'] as number
  await service.call('POST', `/sim/instances/${id}`, { end_date: ends + 3600 })
  await service.sim.controls.advance(3500)
  expect(await service.instance(id)).toMatchObject({ actual_status: 'exited', intended_status: 'stopped' })
  expect((await state(id, 'running')).status).toBe(400)
})

test('a label has at most 1024 characters', async () => {
  const { id } = await service.rent()
  const long = await service.call('PUT', path(id), { label: 'x'.repeat(1025) })
  expect(long).toMatchObject({ status: 400, body: { error: 'label_too_long' } })
  expect((await service.call('PUT', path(id), { label: 'x'.repeat(1024) })).status).toBe(200)
})

test.each([
  [{ credit: 'null' }, null],
  [{ credit: 'missing' }, undefined],
])('the user with %j has that credit, and no two-factor status', async (values, credit) => {
  await service.call('POST', '/sim/deployment', values)
  const { body } = await service.call('GET', '/api/v0/users/current/')
  expect(body).toMatchObject({ id: service.sim.userId, ssh_key: null, got_signup_credit: 1 })
  expect(body['credit']).toBe(credit)
  expect(body).not.toHaveProperty('tfa_status')
})
