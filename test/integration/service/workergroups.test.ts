import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import { type Connected, connect, failure } from './connected.ts'

let service: Connected
let client: ServiceClient
beforeAll(async () => {
  service = await connect()
  client = service.client
})
afterAll(() => service.simulator.close())

test('a workergroup of nothing has the interface’s defaults', async () => {
  expect(await client.workergroups.create({})).toMatchObject({
    id: expect.any(Number),
    search_params: 'verified=true rentable=true rented=false',
    min_load: 1,
  })
})

test('every field of a workergroup is kept, and listed', async () => {
  const [template] = await client.templates.search({})
  const wanted = {
    ...{ endpoint_name: 'chat', endpoint_id: 12, search_params: 'num_gpus=2', launch_args: '--ipc=host' },
    ...{ template_hash: template?.hash_id ?? '', template_id: template?.id ?? 0 },
    ...{ min_load: 0.5, target_util: 0.9 },
  }
  const made = await client.workergroups.create(wanted)
  expect(made).toMatchObject(wanted)
  expect(await client.workergroups.list()).toContainEqual(expect.objectContaining({ id: made.id, ...wanted }))
})

test('an unknown template, a negative load or a wrong key is refused', async () => {
  for (const wrong of [
    { template_hash: 'gone' },
    { template_id: 1 },
    { min_load: -1 },
    { target_util: -1 },
  ]) {
    await expect(client.workergroups.create(wrong)).rejects.toMatchObject(failure('invalid_args', 400))
  }
  const stranger = service.as('nobody').workergroups
  await expect(stranger.create({})).rejects.toMatchObject(failure('unauthorized', 401))
  await expect(stranger.list()).rejects.toMatchObject(failure('unauthorized', 401))
})
