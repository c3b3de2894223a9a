import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import { type Connected, connect, failure } from './connected.ts'

let service: Connected
let client: ServiceClient
let from: number
let to: number
beforeAll(async () => {
  service = await connect()
  client = service.client
  from = await service.running()
  to = await service.running()
})
afterAll(() => service.simulator.close())

const nobody = 1
const line = async (id: number) => (await client.instances.one(id)).status_msg
const paths = { src_path: '/root/a', dst_path: '/root/b' }
const between = () => ({ src_id: String(from), dst_id: String(to), ...paths })
const sync = () => ({
  ...{ instance_id: String(from), src: '/root', dst: 'bucket/x', selected: '12', flags: ['--checksum'] },
  ...{ transfer: 'Instance To Cloud', api_key: 'a-key' },
})

test('a copy appears in the status message within 36 seconds, until it is done', async () => {
  expect(await client.transfers.copy(between())).toMatchObject({ success: true, msg: expect.any(String) })
  const before = await line(to)
  await service.minutes(0.6)
  expect(await line(to)).not.toBe(before)
  await service.minutes(5)
  expect(await line(to)).toMatch(/done|complete/i)
})

test('a copy is cancelled by the id of its destination', async () => {
  await client.transfers.copy(between())
  await client.transfers.cancelCopy(to)
  await service.minutes(1)
  expect(await line(to)).toMatch(/cancel/i)
})

test.each(['Instance To Cloud', 'Cloud To Instance'])(
  'a cloud sync, %s, starts and is cancelled',
  async transfer => {
    expect(await client.transfers.cloudSync({ ...sync(), transfer })).toMatchObject({
      success: true,
      msg: expect.any(String),
      result_url: expect.stringMatching(/^https:/),
    })
    await client.transfers.cancelSync(from)
    await service.minutes(1)
    expect(await line(from)).toMatch(/cancel/i)
  },
)

test('a wrong copy is refused with its code', async () => {
  const refused = async (more: object, code: string, status: number) =>
    expect(client.transfers.copy({ ...between(), ...more })).rejects.toMatchObject(failure(code, status))
  await refused({ src_path: '' }, 'invalid_args', 400)
  await refused({ src_id: 'mine' }, 'invalid_args', 400)
  await refused({ src_id: String(nobody) }, 'no_such_user', 404)
  await refused({ dst_id: String(nobody) }, 'no_such_user', 404)
  await expect(client.transfers.copy(paths)).rejects.toMatchObject(failure('invalid_args', 400))
})

test('cancelling an unknown copy is refused with its code', async () => {
  await expect(client.transfers.cancelCopy(-1)).rejects.toMatchObject(failure('invalid_args', 400))
  await expect(client.transfers.cancelCopy(nobody)).rejects.toMatchObject(failure('no_such_user', 404))
})

test('a cloud sync is refused without a code, in the service’s own words', async () => {
  for (const wrong of [{ instance_id: String(nobody) }, { transfer: 'Sideways' }, { src: '' }]) {
    await expect(client.transfers.cloudSync({ ...sync(), ...wrong })).rejects.toMatchObject(
      failure('refused', 400, { detail: expect.any(String) }),
    )
  }
})

test('cancelling an unknown sync is refused with its code', async () => {
  await expect(client.transfers.cancelSync(1.5)).rejects.toMatchObject(failure('invalid_args', 400))
  await expect(client.transfers.cancelSync(nobody)).rejects.toMatchObject(failure('no_such_instance', 404))
})

test('no valid key, no transfer', async () => {
  const stranger = service.as('nobody').transfers
  for (const call of [
    () => stranger.copy(between()),
    () => stranger.cancelCopy(to),
    () => stranger.cloudSync(sync()),
    () => stranger.cancelSync(from),
  ]) {
    await expect(call()).rejects.toMatchObject(failure('unauthorized', 401))
  }
})
