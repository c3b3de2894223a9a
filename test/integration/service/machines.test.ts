import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import { type Connected, connect, failure } from './connected.ts'

let service: Connected
let client: ServiceClient
/** The account's own machines, and a foreign one. */
let mine: [number, number]
let foreign: number
beforeAll(async () => {
  service = await connect()
  client = service.client
  const [first, second] = (await client.machines.list()).map(({ id }) => id ?? 0)
  mine = [first ?? 0, second ?? 0]
  foreign = (await service.cheapest()).machine_id ?? 0
})
afterAll(() => service.simulator.close())

test('the account’s machines are listed', async () => {
  expect(await client.machines.list()).toContainEqual(
    expect.objectContaining({ machine_id: mine[0], gpu_name: 'RTX 4090', num_gpus: 4 }),
  )
})

test('maintenance is cancelled', async () => {
  expect(await client.machines.cancelMaintenance(mine[0])).toMatchObject({
    ...{ success: true, machine_id: mine[0] },
    ctime: expect.any(Number),
    msg: expect.any(String),
  })
})

test('a clean-up reports how many contracts it deleted', async () => {
  const cleaned = await client.machines.cleanup(mine[0])
  expect(cleaned).toMatchObject({ success: true, machine_id: mine[0], user_id: service.simulator.userId })
  expect(cleaned.num_deleted).toBeGreaterThan(0)
  expect(await client.machines.cleanup(mine[0])).toMatchObject({ num_deleted: 0 })
})

test('a network disk is created, extended to another machine, and listed', async () => {
  const disk = await client.machines.addNetworkDisk({ mount_point: '/mnt/data', machine_id: mine[0] })
  const same = { mount_point: '/mnt/data', machine_ids: [mine[1]], disk_id: disk }
  expect(await client.machines.addNetworkDisk(same)).toBe(disk)
  expect(await client.machines.listNetworkDisks()).toContainEqual(
    expect.objectContaining({ disk_id: disk, mount_point: '/mnt/data', machine_ids: mine }),
  )
})

test('a wrong network disk is refused with its code', async () => {
  const add = (body: object) => client.machines.addNetworkDisk({ mount_point: '/mnt/a', ...body })
  await expect(add({})).rejects.toMatchObject(failure('invalid_args', 400))
  await expect(add({ machine_id: mine[0], mount_point: 'a' })).rejects.toMatchObject(
    failure('invalid_args', 400),
  )
  await expect(add({ machine_id: mine[0], disk_id: 1 })).rejects.toMatchObject(failure('invalid_args', 400))
  await expect(add({ machine_id: foreign })).rejects.toMatchObject(failure('not_authorized', 403))
})

test('maintenance of a machine that is missing or not the caller’s is not found, without a code', async () => {
  for (const id of [1, foreign]) {
    await expect(client.machines.cancelMaintenance(id)).rejects.toMatchObject(
      failure('not_found', 404, { detail: expect.any(String) }),
    )
  }
})

test('a clean-up of a missing or foreign machine is refused with its code', async () => {
  await expect(client.machines.cleanup(1)).rejects.toMatchObject(failure('invalid_args', 400))
  await expect(client.machines.cleanup(foreign)).rejects.toMatchObject(failure('not_authorized', 403))
})

test('no valid key, no hosting', async () => {
  const stranger = service.as('nobody').machines
  for (const call of [
    () => stranger.list(),
    () => stranger.cancelMaintenance(mine[0]),
    () => stranger.cleanup(mine[0]),
    () => stranger.addNetworkDisk({ mount_point: '/mnt/a', machine_id: mine[0] }),
    () => stranger.listNetworkDisks(),
  ]) {
    await expect(call()).rejects.toMatchObject(failure('unauthorized', 401))
  }
})
