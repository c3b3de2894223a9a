import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ deployment: publicProfile })
})
afterAll(() => service.sim.close())

const get = async (path: string) => await service.call('GET', `/api/v0/${path}`)

test('an environment variable is added, listed by name alone, changed and deleted', async () => {
  const secrets = (method: string, body?: unknown) => service.call(method, '/api/v0/secrets/', body)
  expect((await secrets('GET')).body).toEqual({ success: true, secrets: {} })
  expect((await secrets('POST', { key: 'hf_token', value: 'one' })).status).toBe(200)
  expect((await secrets('GET')).body).toEqual({ success: true, secrets: { HF_TOKEN: '********' } })
  const refused = async (method: string, body: unknown) => (await secrets(method, body)).body['error']
  expect(await refused('POST', { key: 'HF_TOKEN', value: 'two' })).toBe('existing_key')
  expect(await refused('POST', { key: 'A' })).toBe('missing_input')
  expect(await refused('POST', { key: '1A', value: 'x' })).toBe('invalid_characters')
  expect(await refused('PUT', { key: 'OTHER', value: 'x' })).toBe('nonexistent_key')
  expect(await refused('DELETE', { key: 'OTHER' })).toBe('nonexistent_key')
  expect((await secrets('PUT', { key: 'HF_TOKEN', value: 'two' })).status).toBe(200)
  const many = Array.from({ length: 15 }, (_, index) => ({ key: `V${index}`, value: 'x' }))
  expect((await secrets('POST', { env_vars: many })).status).toBe(200)
  expect(await refused('POST', { key: 'LAST', value: 'x' })).toBe('max_secrets')
  for (const key of ['HF_TOKEN', ...many.map(({ key }) => key)]) await secrets('DELETE', { key })
  expect((await secrets('GET')).body).toEqual({ success: true, secrets: {} })
})

test('scheduled jobs are created once each, listed and deleted', async () => {
  const path = '/api/v0/commands/schedule_job/'
  const job = {
    instance_id: 5,
    api_endpoint: '/api/v0/instances/bid_price/5/',
    request_method: 'PUT',
    request_body: { client_id: 'me', price: 0.2 },
    ...{ start_time: 1, end_time: 9_999_999_999, frequency: 'DAILY', hour_of_the_day: 3 },
  }
  const { body: made } = await service.call('POST', path, job)
  expect(await service.call('POST', path, job)).toMatchObject({
    status: 422,
    body: { error: 'job_exists', scheduled_job_id: made['scheduled_job_id'] },
  })
  const rows = [{ ...job, id: made['scheduled_job_id'], day_of_the_week: null }]
  expect((await get('commands/schedule_job/')).body).toMatchObject(rows)
  expect((await service.call('DELETE', `${path}${made['scheduled_job_id']}/`)).status).toBe(200)
  expect((await service.call('DELETE', `${path}${made['scheduled_job_id']}/`)).status).toBe(404)
  expect((await get('commands/schedule_job/')).body).toEqual([])
})

test('the audit log is a bare array of the calls that changed something, the newest first', async () => {
  const { id } = await service.rent()
  await service.call('DELETE', `/api/v0/instances/${id}/`)
  const { body } = await get('audit_logs/')
  expect(body[0]).toMatchObject({
    api_route: `/instances/${id}/`,
    api_key_id: expect.any(Number),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  })
})

test('addresses, subaccounts, endpoints and old invoices come as the public command line reads them', async () => {
  expect((await get('users/me/ipaddrs')).body).toMatchObject({ results: [{ ip: '127.0.0.1' }] })
  expect((await get('subaccounts')).body).toEqual({ users: [] })
  expect((await get('endptjobs/')).body).toMatchObject({ results: [{ endpoint_name: 'playground' }] })
  const { body } = await get('users/me/invoices?sdate=0&edate=9999999999&inc_charges=false')
  expect(body).toMatchObject({ current: { credit: expect.any(Number) }, invoices: [{ type: 'payment' }] })
})
