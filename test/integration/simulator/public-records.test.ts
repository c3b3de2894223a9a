import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ deployment: publicProfile })
})
afterAll(() => service.sim.close())

const get = async (path: string) => await service.call('GET', `/api/v0/${path}`)

test('environment variables have a valid name and a value, and are sixteen at most', async () => {
  const add = async (body: unknown) => (await service.call('POST', '/api/v0/secrets/', body)).body['error']
  expect(await add({ key: 'A' })).toBe('missing_input')
  expect(await add({ key: '1A', value: 'x' })).toBe('invalid_characters')
  const many = Array.from({ length: 16 }, (_, index) => ({ key: `V${index}`, value: 'x' }))
  expect(await add({ env_vars: many })).toBeUndefined()
  expect(await add({ key: 'LAST', value: 'x' })).toBe('max_secrets')
})

test('a scheduled job is created once, and deleted once', async () => {
  const path = '/api/v0/commands/schedule_job/'
  const job = {
    ...{ instance_id: 5, api_endpoint: '/api/v0/instances/bid_price/5/', request_method: 'PUT' },
    ...{ request_body: { client_id: 'me', price: 0.2 }, start_time: 1, end_time: 9_999_999_999 },
    ...{ frequency: 'DAILY', hour_of_the_day: 3 },
  }
  const { scheduled_job_id } = (await service.call('POST', path, job)).body
  const again = { status: 422, body: { error: 'job_exists', scheduled_job_id } }
  expect(await service.call('POST', path, job)).toMatchObject(again)
  const remove = async () => (await service.call('DELETE', `${path}${scheduled_job_id}/`)).status
  expect([await remove(), await remove()]).toEqual([200, 404])
})

test('addresses, subaccounts, endpoints and old invoices come as the public command line reads them', async () => {
  expect((await get('users/me/ipaddrs')).body).toMatchObject({ results: [{ ip: '127.0.0.1' }] })
  expect((await get('subaccounts')).body).toEqual({ users: [] })
  expect((await get('endptjobs/')).body).toMatchObject({ results: [{ endpoint_name: 'playground' }] })
  const { body } = await get('users/me/invoices?sdate=0&edate=9999999999&inc_charges=false')
  expect(body).toMatchObject({ current: { credit: expect.any(Number) }, invoices: [{ type: 'payment' }] })
})
