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

test.each([{ template_hash: 'nothing' }, { template_id: 1 }, { min_load: -1 }])(
  'a workergroup with %j is refused',
  async body => {
    expect(await create(body)).toMatchObject({ status: 400, body: { success: false, error: 'invalid_args' } })
  },
)
