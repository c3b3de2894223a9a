import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

const path = '/api/v0/workergroups/'
const create = (body?: unknown) => service.call('POST', path, body)

test('a workergroup without a body has the interface’s defaults', async () => {
  const { status, body } = await create()
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: expect.any(Number),
    endpoint_id: expect.any(Number),
    search_params: 'verified=true rentable=true rented=false',
    launch_args: '',
    min_load: 1,
  })
})

test('every field of a workergroup is stored and listed', async () => {
  const { body: found } = await service.call('GET', '/api/v0/template/')
  const [template] = found['templates'] as { id: number; hash_id: string }[]
  const wanted = {
    ...{ endpoint_name: 'chat', search_params: 'gpu_name=RTX_4090', launch_args: '--disk 40' },
    ...{ template_hash: template?.hash_id, template_id: template?.id, min_load: 0.5, target_util: 0.9 },
  }
  const made = await create({ ...wanted, client_id: 'me' })
  expect(made).toMatchObject({ status: 200, body: wanted })
  const groups = (await service.call('GET', path)).body['workergroups'] as Record<string, unknown>[]
  expect(groups.find(({ id }) => id === made.body['id'])).toMatchObject(wanted)
  expect((await create({ endpoint_name: 'chat' })).body['endpoint_id']).toBe(made.body['endpoint_id'])
  expect((await create({ endpoint_id: 77 })).body['endpoint_id']).toBe(77)
})

test.each([
  { endpoint_name: 5 },
  { endpoint_id: 'x' },
  { template_hash: 'nothing' },
  { template_id: 1 },
  { search_params: {} },
  { launch_args: [] },
  { min_load: -1 },
  { target_util: '0.9' },
])('a workergroup with %j is refused', async body => {
  expect(await create(body)).toMatchObject({ status: 400, body: { success: false, error: 'invalid_args' } })
})
