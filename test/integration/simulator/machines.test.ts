import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

interface Machine {
  id: number
  machine_maintenance: unknown[]
  expired_contracts: number
}

const machines = async () => (await service.call('GET', '/api/v0/machines')).body['machines'] as Machine[]
const first = async (fits: (machine: Machine) => boolean) => {
  const machine = (await machines()).find(fits)
  if (!machine) throw new Error('The account has no such machine.')
  return machine
}
const stranger = async () => (await service.offers({ limit: 1 }))[0]?.machine_id ?? 0

test.each(['', '/'])('maintenance is cancelled with the path ending in "%s"', async ending => {
  const { id } = await first(({ machine_maintenance }) => machine_maintenance.length > 0)
  const cancel = () => service.call('PUT', `/api/v0/machines/${id}/cancel_maint${ending}`)
  const answer = { success: true, ctime: expect.any(Number), machine_id: id, msg: expect.any(String) }
  expect(await cancel()).toMatchObject({ status: 200, body: answer })
  expect((await first(machine => machine.id === id)).machine_maintenance).toEqual([])
  expect(await cancel()).toMatchObject({ status: 200, body: answer })
})

test('maintenance of a missing or foreign machine answers 404', async () => {
  for (const id of [1, await stranger()]) {
    const { status, body } = await service.call('PUT', `/api/v0/machines/${id}/cancel_maint`)
    expect([status, body]).toEqual([
      404,
      { success: false, msg: expect.any(String), machine_id: id, user_id: service.sim.userId },
    ])
  }
})

test('a clean-up needs an object without unknown fields, and the owner', async () => {
  const [own] = await machines()
  const clean = (id: number | undefined, body?: unknown) =>
    service.call('PUT', `/api/v0/machines/${id}/cleanup`, body)
  for (const body of [undefined, [], { all: true }, '{']) {
    expect(await clean(own?.id, body)).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
  }
  expect((await clean(own?.id, { client_id: 'me' })).status).toBe(200)
  expect(await clean(1, {})).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
  expect(await clean(await stranger(), {})).toMatchObject({ status: 403, body: { error: 'not_authorized' } })
})

test.each([
  {},
  { mount_point: '/mnt' },
  { mount_point: 'mnt', machine_id: 1 },
  { mount_point: '/mnt', machine_id: 1 },
])('a disk with %j is refused', async body => {
  expect(await service.call('POST', '/api/v0/network_disk/', body)).toMatchObject({
    status: 400,
    body: { success: false, error: 'invalid_args', msg: expect.any(String) },
  })
})

test('only the owner of a machine may add a disk to it', async () => {
  const body = { mount_point: '/mnt', machine_id: await stranger() }
  expect(await service.call('POST', '/api/v0/network_disk/', body)).toMatchObject({
    status: 403,
    body: { success: false, error: 'not_authorized' },
  })
})
