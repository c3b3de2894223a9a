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

const quiet = { client: { low_credit: { email: false, webhooks: false } } }
const hook = { name: 'chat', webhook_url: 'https://hooks.example/1', event_types: ['client:low_credit'] }

test('preferences are read, and replaced as a whole', async () => {
  const user = service.simulator.userId
  expect(await client.account.notificationPreferences(user)).toMatchObject({
    known: { client: { low_credit: { email: expect.any(Boolean), webhooks: expect.any(Boolean) } } },
  })
  const replaced = { known: quiet, whole: quiet }
  expect(await client.account.replaceNotificationPreferences(user, quiet)).toEqual(replaced)
  expect(await client.account.notificationPreferences(user)).toEqual(replaced)
})

test('preferences of another user, of no event’s form, or with no valid key are refused', async () => {
  const user = service.simulator.userId
  const replace = (who: number, wanted = quiet, as = client) =>
    as.account.replaceNotificationPreferences(who, wanted)
  await expect(replace(user + 1)).rejects.toMatchObject(failure('forbidden', 403))
  const odd = { ...quiet, 'no audience': quiet.client }
  await expect(replace(user, odd)).rejects.toMatchObject(failure('invalid_args', 400))
  await expect(replace(user, quiet, service.as('nobody'))).rejects.toMatchObject(failure('unauthorized', 401))
})

test('a webhook is made, changed field by field, listed and removed', async () => {
  await client.account.replaceNotificationPreferences(service.simulator.userId, quiet)
  const { webhook: made, secret } = await client.webhooks.create(hook)
  expect(secret).toBeUndefined()
  expect(made).toMatchObject({ ...hook, user_id: service.simulator.userId, created_at: expect.any(Number) })
  const changed = await client.webhooks.update(made.id, {
    event_types: ['client:outbid', 'host:machine_offline'],
  })
  expect(changed.webhook).toMatchObject({
    ...{ id: made.id, name: 'chat', webhook_url: hook.webhook_url },
    event_types: ['client:outbid', 'host:machine_offline'],
    updated_at: expect.any(Number),
  })
  expect(await client.webhooks.list()).toEqual([changed.webhook])
  await client.webhooks.remove(made.id)
  expect(await client.webhooks.list()).toEqual([])
})

test('subscribing to an event reports the preferences it enabled', async () => {
  const {
    webhook: { id },
  } = await client.webhooks.create({ ...hook, event_types: [] })
  await client.account.replaceNotificationPreferences(service.simulator.userId, quiet)
  const { enabled } = await client.webhooks.update(id, { event_types: hook.event_types })
  expect(enabled).toEqual(['client:low_credit'])
  expect(await client.account.notificationPreferences(service.simulator.userId)).toMatchObject({
    known: { client: { low_credit: { webhooks: true } } },
  })
})

test('a webhook that is not there, of a wrong address or event, or asked for with no valid key is refused', async () => {
  const {
    webhook: { id },
  } = await client.webhooks.create(hook)
  await expect(client.webhooks.update(1, { name: 'b' })).rejects.toMatchObject(failure('not_found', 404))
  await expect(client.webhooks.remove(1)).rejects.toMatchObject(failure('not_found', 404))
  for (const wrong of [
    {},
    { name: '' },
    { webhook_url: 'ftp://a.example' },
    { event_types: ['low credit'] },
  ]) {
    await expect(client.webhooks.update(id, wrong)).rejects.toMatchObject(failure('invalid_args', 400))
  }
  const stranger = service.as('nobody').webhooks
  await expect(stranger.update(id, { name: 'b' })).rejects.toMatchObject(failure('unauthorized', 401))
  await expect(stranger.list()).rejects.toMatchObject(failure('unauthorized', 401))
})
