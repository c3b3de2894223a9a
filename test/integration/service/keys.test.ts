import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure, nobodysKey } from './connected.ts'

const reading = { api: { user_read: {}, instance_read: {} } }

/** Per profile: a user without SSH keys, a key's rights, and whether instances have keys. */
const told = {
  interface: {
    user: { ssh_key: '', tfa_status: 'disabled' },
    rights: 'user_read,instance_read',
    instanceKey: true,
  },
  public: { user: {}, rights: 'custom', instanceKey: false },
}

describe.each(profileNames)('keys of the %s', name => {
  let service: Connected
  let client: ServiceClient
  beforeAll(async () => {
    service = await connect({ deployment: profiles[name] })
    client = service.client
  })
  afterAll(() => service.simulator.close())

  test('the current user has id, email, credit, SSH key and the state of two-factor authentication', async () => {
    expect(await client.account.currentUser()).toMatchObject({
      id: service.simulator.userId,
      email: expect.stringContaining('@'),
      credit: 25,
      ...told[name].user,
    })
  })

  test('a key is made with its secret in full, listed masked, and nobody’s once it is revoked', async () => {
    const made = await client.apiKeys.create({
      name: 'reader',
      permissions: reading,
      key_params: { note: 1 },
    })
    expect(made).toMatchObject({ id: expect.any(Number), permissions: reading })
    const listed = (await client.apiKeys.list()).find(({ id }) => id === made.id)
    expect(listed).toMatchObject({
      user_id: service.simulator.userId,
      rights: told[name].rights,
      team_id: 0,
      team_name: '',
    })
    expect(listed?.key).not.toBe(made.key)
    await service.as(made.key).account.currentUser()
    await client.apiKeys.remove(made.id)
    await expect(service.as(made.key).account.currentUser()).rejects.toMatchObject(nobodysKey[name])
    await expect(client.apiKeys.remove(made.id)).rejects.toMatchObject(failure('not_found', 404))
  })

  test('where permissions are disabled the new key’s are false', async () => {
    service.account({ permissions_disabled: true })
    expect(await client.apiKeys.create({ name: 'all', permissions: reading })).toMatchObject({
      permissions: false,
    })
    service.account({ permissions_disabled: false })
  })

  test.each([
    ['missing_permissions', { name: 'a' }],
    ['missing_permissions', { name: 'a', permissions: { api: {} } }],
    ['invalid_permissions', { name: 'a', permissions: { api: { everything: {} } } }],
    ['invalid_args', { name: '', permissions: reading }],
  ])('a key’s creation is refused with %s', async (code, request) => {
    await expect(client.apiKeys.create(request)).rejects.toMatchObject(failure(code, 400))
  })

  test('a list of keys that is refused without a code tells the service’s own words', async () => {
    service.simulator.controls.setFaults([{ path: '/auth/apikeys/', kind: 'status', status: 400, times: 1 }])
    await expect(client.apiKeys.list()).rejects.toMatchObject(
      failure('refused', 400, { detail: expect.any(String) }),
    )
  })

  test('a key that nobody issued neither makes, lists nor revokes keys', async () => {
    const { apiKeys, account } = service.as('nobody')
    for (const call of [
      () => apiKeys.create({ name: 'a', permissions: reading }),
      () => apiKeys.list(),
      () => apiKeys.remove(1),
      () => account.currentUser(),
    ]) {
      await expect(call()).rejects.toMatchObject(nobodysKey[name])
    }
  })

  test('a key scoped to reading reads, and is refused whatever it would change', async () => {
    const { key } = await client.apiKeys.create({ name: 'reader', permissions: reading })
    const reader = service.as(key)
    await reader.account.currentUser()
    await reader.instances.list()
    const { id } = await service.rent()
    await expect(reader.instances.stop(id)).rejects.toMatchObject(failure('forbidden', 403))
    await expect(reader.apiKeys.create({ name: 'more' })).rejects.toMatchObject(failure('forbidden', 403))
    await expect(reader.offers.search({})).rejects.toMatchObject(failure('forbidden', 403))
  })

  test('an instance’s own key stops, starts and destroys that instance, and nothing else', async () => {
    const mine = await service.rent()
    const other = await service.rent()
    expect(mine.key !== '').toBe(told[name].instanceKey)
    if (!told[name].instanceKey) return
    const inside = service.as(mine.key)
    await inside.instances.stop(mine.id)
    await inside.instances.start(mine.id)
    for (const call of [
      () => inside.instances.stop(other.id),
      () => inside.instances.list(),
      () => inside.instances.rename(mine.id, 'b'),
      () => inside.account.currentUser(),
    ]) {
      await expect(call()).rejects.toMatchObject(failure('forbidden', 403))
    }
    await inside.instances.destroy(mine.id)
    await expect(inside.instances.stop(mine.id)).rejects.toMatchObject(nobodysKey[name])
  })
})
