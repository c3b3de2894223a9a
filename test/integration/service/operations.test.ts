import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import type { TemplateBody } from '#service/templates.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure, nobodysKey } from './connected.ts'

/** Every group of the client's methods against answers of the simulator; `simulator/` tests what it refuses. */

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB6p5Z9vM3b1u8e0yWn3bYB4r7lJ0s2mQ0yQk8r5u1cT a@b'
const permissions = { api: { user_read: {}, instance_read: {} } }
const plain: TemplateBody = {
  ...{ name: 'mine', image: 'pytorch/pytorch', env: '-e A=1 -p 80:80', use_ssh: true },
  ...{ docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
}
const hook = { name: 'chat', webhook_url: 'https://hooks.example/1', event_types: ['client:low_credit'] }
/** A stopped or outbid instance, an instance's own key, and a key's rights, of each deployment. */
const ways = {
  interface: { stopped: 'stopped', ownKey: true, rights: 'user_read,instance_read' },
  public: { stopped: 'exited', ownKey: false, rights: 'custom' },
}

let service: Connected
let client: ServiceClient

describe.each(profileNames)('the client on the %s profile', name => {
  const { stopped, ownKey, rights } = ways[name]
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

  test('makes a key, lists it masked, uses and revokes it', async () => {
    const made = await client.apiKeys.create({ name: 'reader', permissions, key_params: { note: 1 } })
    expect(made).toMatchObject({ id: expect.any(Number), permissions })
    const listed = (await client.apiKeys.list()).find(({ id }) => id === made.id)
    expect(listed).toMatchObject({ user_id: service.simulator.userId, rights, team_id: 0 })
    expect(listed?.key).not.toBe(made.key)
    const reader = service.as(made.key)
    await reader.instances.list()
    await expect(reader.offers.search({})).rejects.toMatchObject(failure('forbidden', 403))
    await client.apiKeys.remove(made.id)
    await expect(reader.account.currentUser()).rejects.toMatchObject(nobodysKey[name])
    await expect(client.apiKeys.remove(made.id)).rejects.toMatchObject(failure('not_found', 404))
    await expect(client.apiKeys.create({ name: 'a' })).rejects.toMatchObject(
      failure('missing_permissions', 400),
    )
  })

  test('makes, edits, finds and removes a template', async () => {
    const made = await client.templates.create(plain)
    expect(made).toMatchObject({ tag: 'latest', runtype: 'args', recommended_disk_space: 8 })
    const edited = await client.templates.edit(made.hash_id, { desc: 'b' })
    expect(edited).toMatchObject({ id: made.id, name: 'mine', desc: 'b', env: plain.env })
    await expect(client.templates.edit(made.hash_id, { desc: 'c' })).rejects.toMatchObject(
      failure('not_found', 404),
    )
    const byHash = { hash_id: { eq: edited.hash_id }, use_ssh: { eq: true } }
    expect((await client.templates.search(byHash)).map(({ id }) => id)).toEqual([made.id])
    await client.templates.remove(made.id)
    expect(await client.templates.search({ id: { eq: made.id } })).toEqual([])
    await expect(client.templates.remove(made.id)).rejects.toMatchObject(failure('not_found', 404))
  })
})

describe('the client on the interface alone', () => {
  beforeAll(async () => {
    service = await connect()
    client = service.client
  })
  afterAll(() => service.simulator.close())

  test('copies between instances, syncs with a cloud, and cancels both', async () => {
    const [from, to] = [await service.running(), await service.running()]
    const line = async (id: number) => (await client.instances.one(id)).status_msg
    const sides = { src_id: String(from), dst_id: String(to), src_path: '/root/a', dst_path: '/root/b' }
    expect(await client.transfers.copy(sides)).toMatchObject({ success: true, msg: expect.any(String) })
    await service.minutes(6)
    expect(await line(to)).toMatch(/done|complete/i)
    await client.transfers.copy(sides)
    await client.transfers.cancelCopy(to)
    const sync = {
      ...{ instance_id: String(from), src: '/root', dst: 'bucket/x', selected: '12', flags: ['--checksum'] },
      ...{ transfer: 'Instance To Cloud', api_key: 'a-key' },
    }
    expect(await client.transfers.cloudSync(sync)).toMatchObject({
      success: true,
      result_url: expect.stringMatching(/^https:/),
    })
    await client.transfers.cancelSync(from)
    await service.minutes(1)
    expect([await line(to), await line(from)]).toEqual(Array(2).fill(expect.stringMatching(/cancel/i)))
    await expect(client.transfers.cancelCopy(1)).rejects.toMatchObject(failure('no_such_user', 404))
    await expect(client.transfers.cloudSync({ ...sync, src: '' })).rejects.toMatchObject(
      failure('refused', 400, { detail: expect.any(String) }),
    )
  })

  test('looks after the account’s machines and network disks', async () => {
    const { machines } = client
    const [first = 0, second = 0] = (await machines.list()).map(({ id }) => id ?? 0)
    expect(await machines.list()).toContainEqual(
      expect.objectContaining({ machine_id: first, gpu_name: 'RTX 4090', num_gpus: 4 }),
    )
    expect(await machines.cancelMaintenance(first)).toMatchObject({ success: true, machine_id: first })
    expect((await machines.cleanup(first)).num_deleted).toBeGreaterThan(0)
    const disk = await machines.addNetworkDisk({ mount_point: '/mnt/data', machine_id: first })
    const same = { mount_point: '/mnt/data', machine_ids: [second], disk_id: disk }
    expect(await machines.addNetworkDisk(same)).toBe(disk)
    expect(await machines.listNetworkDisks()).toContainEqual(
      expect.objectContaining({ disk_id: disk, mount_point: '/mnt/data', machine_ids: [first, second] }),
    )
    await expect(machines.cancelMaintenance(1)).rejects.toMatchObject(failure('not_found', 404))
    await expect(machines.cleanup((await service.cheapest()).machine_id ?? 0)).rejects.toMatchObject(
      failure('not_authorized', 403),
    )
  })

  test('replaces preferences, and keeps webhooks, which enable them', async () => {
    const user = service.simulator.userId
    const quiet = { client: { low_credit: { email: false, webhooks: false } } }
    const replaced = { known: quiet, whole: quiet }
    expect(await client.account.replaceNotificationPreferences(user, quiet)).toEqual(replaced)
    expect(await client.account.notificationPreferences(user)).toEqual(replaced)
    const { webhook } = await client.webhooks.create({ ...hook, event_types: [] })
    const { webhook: changed, enabled } = await client.webhooks.update(webhook.id, {
      event_types: hook.event_types,
    })
    expect(changed).toMatchObject({ ...hook, id: webhook.id, user_id: user, updated_at: expect.any(Number) })
    expect(enabled).toEqual(['client:low_credit'])
    expect(await client.webhooks.list()).toEqual([changed])
    await client.webhooks.remove(webhook.id)
    await expect(client.webhooks.remove(webhook.id)).rejects.toMatchObject(failure('not_found', 404))
    await expect(client.account.notificationPreferences(user + 1)).rejects.toMatchObject(
      failure('forbidden', 403),
    )
  })

  test('makes workergroups with the interface’s defaults, and lists them', async () => {
    const made = await client.workergroups.create({ endpoint_name: 'chat', min_load: 0.5 })
    expect(made).toMatchObject({ min_load: 0.5, search_params: 'verified=true rentable=true rented=false' })
    expect(await client.workergroups.list()).toContainEqual(expect.objectContaining({ id: made.id }))
  })
})
