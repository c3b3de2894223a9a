import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import type { NewInstance } from '#service/new-instance.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure, nobodysKey } from './connected.ts'

/** `actual_status` of a stopped or outbid instance. */
const stopped = { interface: 'stopped', public: 'exited' }
/** The highest first bid, dollars per hour. */
const highest = { interface: 32, public: 128 }
/** The code of a wrong search: the public deployment's is not known to Berth. */
const wrongSearch = { interface: 'invalid_args', public: 'refused' }
/** The answer to a negative limit. */
const negativeLimit = { interface: failure('invalid_args', 400), public: [] }
/** Whether an instance has a key of its own. */
const givesKey = { interface: true, public: false }
/** Only the interface's deployment accepts a volume that does not exist. */
const volume = {
  interface: { volume_info: { create_new: true, volume_id: 3, size: 5, mount_path: '/data' } },
  public: {},
}

describe.each(profileNames)('instances of the %s', name => {
  let service: Connected
  let client: ServiceClient
  beforeAll(async () => {
    service = await connect({ deployment: profiles[name] })
    client = service.client
  })
  afterAll(() => service.simulator.close())

  const gone = 1
  const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB6p5Z9vM3b1u8e0yWn3bYB4r7lJ0s2mQ0yQk8r5u1cT a@b'
  const status = async (id: number) => (await client.instances.one(id)).actual_status

  test('a rented instance goes from null through loading to running, stops, starts, reboots and is gone', async () => {
    const { new_contract: id, instance_api_key: key } = await client.offers.createInstance(
      (await service.cheapest()).id,
      {
        ...{ image: 'pytorch/pytorch:2.5', disk: 10, onstart: 'true', runtype: 'ssh', label: 'a' },
        env: { A: '1', '-p 8080:8080': '1' },
        ...volume[name],
      },
    )
    expect(key !== undefined).toBe(givesKey[name])
    expect(await status(id)).toBeNull()
    const seen = new Set<unknown>()
    for (let half = 0; half < 12; half++) {
      seen.add(await status(id))
      await service.minutes(0.5)
    }
    expect([...seen]).toEqual([null, 'loading', 'running'])
    expect(await client.instances.one(id)).toMatchObject({ id, ssh_host: '127.0.0.1' })
    await client.instances.reboot(id)
    expect(await status(id)).toBe('rebooting')
    await client.instances.stop(id)
    expect(await status(id)).toBe(stopped[name])
    await client.instances.start(id)
    await service.minutes(2)
    expect(await status(id)).toBe('running')
    await client.instances.destroy(id)
    await expect(client.instances.one(id)).rejects.toMatchObject(failure('no_such_instance', 404))
  })

  test.each(['exited', 'unknown', 'offline'])(
    '%s is told as it is, and is left by no waiting',
    async forced => {
      const id = await service.running()
      await service.simulator.controls.forceStatus(id, forced)
      await service.minutes(60)
      expect(await status(id)).toBe(forced)
      await client.instances.destroy(id)
    },
  )

  test('an account without instances lists none', async () => {
    for (const { id } of (await client.instances.list()).instances) await client.instances.destroy(id)
    expect((await client.instances.list()).instances).toEqual([])
  })

  test('an SSH key is attached to an instance and added to the account', async () => {
    const { id } = await service.rent()
    expect(await client.instances.attachSshKey(id, publicKey)).toMatchObject({
      ...{ success: true, msg: expect.any(String) },
    })
    await client.account.addSshKey(publicKey)
    expect(await client.account.listSshKeys()).toMatchObject([{ ssh_key: publicKey }])
    expect((await client.account.currentUser()).ssh_key).toBe(publicKey)
  })

  test('attaching a bad SSH key, with a wrong API key or to no instance is refused', async () => {
    const { id } = await service.rent()
    await expect(client.instances.attachSshKey(id, 'a')).rejects.toMatchObject(failure('invalid_args', 400))
    await expect(service.as('nobody').instances.attachSshKey(id, publicKey)).rejects.toMatchObject(
      nobodysKey[name],
    )
    await expect(client.instances.attachSshKey(gone, publicKey)).rejects.toMatchObject(
      failure('no_such_instance', 404),
    )
    await expect(client.account.addSshKey('a')).rejects.toMatchObject(failure('invalid_args', 400))
  })

  test('a bid is from 0.001 to 32 dollars an hour, for an instance that there is', async () => {
    const { id } = await service.rent({ image: 'ubuntu', disk: 10, price: 1 })
    for (const price of [0.001, 32]) await client.instances.changeBid(id, price)
    for (const price of [0.0009, 32.1]) {
      await expect(client.instances.changeBid(id, price)).rejects.toMatchObject(failure('invalid_args', 400))
    }
    await expect(client.instances.changeBid(gone, 1)).rejects.toMatchObject(failure('no_such_instance', 404))
  })

  test('outbid it stops though nobody stopped it, and a bid that wins resumes it', async () => {
    const { id } = await service.rent({ image: 'ubuntu', disk: 10, price: 5 })
    await service.minutes(6)
    await service.simulator.controls.outbid(id)
    const { min_bid = 0, ...outbid } = await client.instances.one(id)
    expect(outbid).toMatchObject({ actual_status: stopped[name], intended_status: 'running' })
    await client.instances.changeBid(id, min_bid)
    await service.minutes(2)
    expect(await status(id)).toBe('running')
  })

  test.each<[why: string, body: NewInstance]>([
    ['no image', { disk: 10 }],
    ['no disk at all', { image: 'a', disk: 0 }],
    ['a port mapping that is none', { image: 'a', env: { '-p 80': '1' } }],
    [
      'a volume with a relative path',
      { image: 'a', volume_info: { create_new: false, volume_id: 1, mount_path: 'a' } },
    ],
    [`a bid beyond ${highest[name]} dollars`, { image: 'a', price: highest[name] + 1 }],
  ])('a creation with %s is refused', async (_, body) => {
    await expect(service.rent(body)).rejects.toMatchObject(failure('invalid_args', 400))
  })

  test('actions on a missing instance, or with a wrong key, are refused', async () => {
    const calls = ({ instances }: ServiceClient) => [
      () => instances.one(gone),
      () => instances.stop(gone),
      () => instances.start(gone),
      () => instances.rename(gone, 'a'),
      () => instances.destroy(gone),
      () => instances.reboot(gone),
    ]
    for (const call of calls(client))
      await expect(call()).rejects.toMatchObject(failure('no_such_instance', 404))
    const stranger = service.as('nobody')
    const strange = [...calls(stranger), () => stranger.instances.list(), () => stranger.offers.search({})]
    for (const call of strange) await expect(call()).rejects.toMatchObject(nobodysKey[name])
    await expect(stranger.offers.createInstance(1, { image: 'a' })).rejects.toMatchObject(nobodysKey[name])
  })

  test('a search with an unknown field is refused; a negative limit is answered per profile', async () => {
    const odd = { filters: { no_such_field: { eq: 1 } } }
    await expect(client.offers.search(odd as object)).rejects.toMatchObject(failure(wrongSearch[name], 400))
    const none = client.offers.search({ limit: -1 }).catch((error: unknown) => error)
    expect(await none).toMatchObject(negativeLimit[name])
  })
})
