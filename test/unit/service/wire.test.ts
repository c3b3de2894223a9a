import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../electron/service/client.ts'
import type { InstanceFace } from '../../../electron/service/instances.ts'
import { rows, user } from './right-answers.ts'
import { json, ScriptedService } from './scripted-service.ts'
import { HurriedClock } from './virtual-clock.ts'

let service: ScriptedService

beforeAll(async () => {
  service = await ScriptedService.start()
})
afterAll(() => service.stop())

test.each(rows)(
  '%s is sent as the interface says, and its answer understood',
  async (request, sent, answer, call, gives) => {
    service.otherwise = json(answer)
    const face: InstanceFace = { get: () => 'v0', set: () => undefined }
    const client = createClient({ baseUrl: service.baseUrl, key: 'k-1', clock: new HurriedClock(), face })
    expect(await call(client)).toEqual(gives)
    const seen = service.requests.at(-1)
    expect(`${seen?.method} ${seen?.url}`).toBe(request.replace(/ \/(?!api\/)/, ' /api/v0/'))
    expect(seen?.headers.authorization).toBe('Bearer k-1')
    if (sent === '') return expect(seen?.body).toBe('')
    expect(JSON.parse(seen?.body ?? '')).toEqual(sent)
    expect(seen?.headers['content-type']).toBe('application/json')
  },
)

test('a path prefix of the base URL is kept', async () => {
  service.otherwise = json(user)
  const baseUrl = `${service.baseUrl}/market` as typeof service.baseUrl
  await createClient({ baseUrl, key: 'k' }).account.currentUser()
  expect(service.requests.at(-1)?.url).toBe('/market/api/v0/users/current/')
})

test('the login path sends the login’s own secret and no key', async () => {
  const client = createClient({ baseUrl: service.baseUrl, key: 'k' })
  service.otherwise = json({ msg: 'm', secret: 'challenge' })
  await client.twoFactor.sendSms({ tfa_secret: 'login' })
  expect(service.requests.at(-1)?.headers.authorization).toBeUndefined()
  expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toEqual({ tfa_secret: 'login', secret: 'login' })
  service.otherwise = json(user)
  await client.twoFactor.login({ tfa_secret: 'login', secret: 'challenge', code: '123456' })
  expect(service.requests.at(-1)?.headers.authorization).toBeUndefined()
  expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toMatchObject({ secret: 'challenge' })
})
