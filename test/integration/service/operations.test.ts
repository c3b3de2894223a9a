import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FullClient } from '#service/client.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure } from './connected.ts'

/** Operations that Berth's commands in `core/` don't try over the simulator, on each deployment. */

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB6p5Z9vM3b1u8e0yWn3bYB4r7lJ0s2mQ0yQk8r5u1cT a@b'
/** A stopped or outbid instance, and an instance's own key, of each deployment. */
const ways = {
  interface: { stopped: 'stopped', ownKey: true },
  public: { stopped: 'exited', ownKey: false },
}

let service: Connected
let client: FullClient

describe.each(profileNames)('the client on the %s profile', name => {
  const { stopped, ownKey } = ways[name]
  beforeAll(async () => {
    service = await connect({ deployment: profiles[name] })
    client = service.client
  })
  afterAll(() => service.simulator.close())

  const status = async (id: number) => (await client.instances.one(id)).actual_status

  test('follows an instance from its creation to its end', async () => {
    expect((await client.instances.list()).instances).toEqual([])
    const { id, key } = await service.rent({ image: 'pytorch/pytorch:2.5', disk: 10, label: 'a', price: 5 })
    expect(key !== '').toBe(ownKey)
    expect(await status(id)).toBeNull()
    await service.minutes(6)
    expect(await client.instances.one(id)).toMatchObject({ actual_status: 'running', ssh_host: '127.0.0.1' })
    await client.instances.reboot(id)
    expect(await status(id)).toBe('rebooting')
    await client.instances.stop(id)
    expect(await status(id)).toBe(stopped)
    await client.instances.start(id)
    await service.minutes(2)
    await service.simulator.controls.outbid(id)
    const { min_bid = 0, ...outbid } = await client.instances.one(id)
    expect(outbid).toMatchObject({ actual_status: stopped, intended_status: 'running' })
    await client.instances.changeBid(id, min_bid)
    await service.minutes(2)
    expect(await status(id)).toBe('running')
    await client.instances.destroy(id)
    await expect(client.instances.one(id)).rejects.toMatchObject(failure('no_such_instance', 404))
  })

  test('adds SSH keys to an instance and to the account', async () => {
    const { id } = await service.rent()
    expect(await client.instances.attachSshKey(id, publicKey)).toMatchObject({ success: true })
    await client.account.addSshKey(publicKey)
    expect(await client.account.listSshKeys()).toMatchObject([{ ssh_key: publicKey }])
    expect((await client.account.currentUser()).ssh_key).toBe(publicKey)
    await expect(client.account.addSshKey('a')).rejects.toMatchObject(failure('invalid_args', 400))
  })
})
