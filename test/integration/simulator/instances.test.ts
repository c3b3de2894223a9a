import { afterAll, beforeAll, expect, test } from 'vitest'
import { FLAKY, machineFate } from '#simulator/world/instances/plan.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.sim.close())

test('an instance boots from null to loading, with progress, to running', async () => {
  const { id } = await service.rent({ label: 'mine', runtype: 'ssh_direc ssh_proxy' })
  expect(await service.instance(id)).toMatchObject({
    id,
    actual_status: null,
    label: 'mine',
    image_uuid: 'ubuntu',
  })
  const seen: unknown[] = []
  const messages = new Set<unknown>()
  for (let second = 0; second <= 300; second += 5) {
    const instance = await service.instance(id)
    if (seen.at(-1) !== instance['actual_status']) seen.push(instance['actual_status'])
    if (instance['actual_status'] === 'loading') messages.add(instance['status_msg'])
    await service.sim.controls.advance(5)
  }
  expect(seen).toEqual([null, 'loading', 'running'])
  expect(messages.size).toBeGreaterThan(4)
  const running = await service.instance(id)
  const port = running['ssh_port']
  expect(running).toMatchObject({
    ssh_host: '127.0.0.1',
    public_ipaddr: '127.0.0.1',
    ports: { '22/tcp': [{ HostPort: String(port) }] },
    gpu_util: expect.any(Number),
    intended_status: 'running',
  })
})

test('a destroyed instance is not found, and its key is refused', async () => {
  const { id, key } = await service.rent()
  expect(await service.call('DELETE', `/api/v0/instances/${id}/`)).toMatchObject({ status: 200 })
  expect(await service.call('GET', `/api/v0/instances/${id}/`)).toMatchObject({
    status: 404,
    body: { success: false, error: 'no_such_instance' },
  })
  expect(await service.call('DELETE', `/api/v0/instances/${id}/`, undefined, key)).toMatchObject({
    status: 401,
  })
})

test('image, environment, disk, start script and runtype are kept as requested', async () => {
  const { id } = await service.rent({
    image: 'pytorch/pytorch:2.4',
    disk: 33.5,
    onstart: 'echo hi',
    runtype: 'jupyter_proxy ssh_proxy',
    env: { A: 'b', '-p 8080:8080': '1' },
    volume_info: { create_new: true, volume_id: 5, size: 10, mount_path: '/data' },
  })
  expect(await service.instance(id)).toMatchObject({
    image_uuid: 'pytorch/pytorch:2.4',
    disk_space: 33.5,
    onstart: 'echo hi',
    image_runtype: 'jupyter_proxy ssh_proxy',
    extra_env: [
      ['A', 'b'],
      ['-p 8080:8080', '1'],
    ],
  })
})

test.each([
  {},
  { image: '' },
  { image: 'a b' },
  { image: 'ubuntu', disk: 0 },
  { image: 'ubuntu', disk: 1e9 },
  { image: 'ubuntu', env: { 'A B': 'c' } },
  { image: 'ubuntu', env: { A: {} } },
  { image: 'ubuntu', runtype: 'telnet' },
  { image: 'ubuntu', price: 0 },
  { image: 'ubuntu', price: 33 },
  { image: 'ubuntu', target_state: 'asleep' },
  { image: 'ubuntu', template_id: 4 },
  { image: 'ubuntu', template_hash_id: 'unknown' },
  { image: 'ubuntu', volume_info: { create_new: true, volume_id: 1, mount_path: '/x' } },
])('a creation with %j is refused and rents nothing', async body => {
  const [offer] = await service.offers({ limit: 1 })
  const answer = await service.call('PUT', `/api/v0/asks/${offer?.id}/`, body)
  expect(answer).toMatchObject({ status: 400, body: { success: false, error: 'invalid_args' } })
  expect((await service.offers({ limit: 1 }))[0]?.id).toBe(offer?.id)
})

test('an unknown id answers 404, a malformed one 400', async () => {
  const unknown = { status: 404, body: { success: false, error: 'no_such_instance' } }
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRs0aF0bYtVvY0Yz7vO8P1iWk2qYqQz0c0lqg5u3v9A me'
  expect(await service.call('GET', '/api/v0/instances/1/')).toMatchObject(unknown)
  expect(await service.call('PUT', '/api/v0/instances/1/', { state: 'stopped' })).toMatchObject(unknown)
  expect(await service.call('DELETE', '/api/v0/instances/1/')).toMatchObject(unknown)
  expect(await service.call('POST', '/api/v0/instances/1/ssh/', { ssh_key: key })).toMatchObject(unknown)
  expect(await service.call('PUT', '/api/v0/instances/reboot/1/', {})).toMatchObject(unknown)
  const bid = { client_id: 'me', price: 1 }
  expect(await service.call('PUT', '/api/v0/instances/bid_price/1/', bid)).toMatchObject(unknown)
  expect(await service.call('PUT', '/api/v0/asks/1/', { image: 'ubuntu' })).toMatchObject({
    status: 404,
    body: { success: false, error: 'no_such_ask' },
  })
  expect(await service.call('GET', '/api/v0/instances/x/')).toMatchObject({ status: 400 })
})

test.each([{}, { state: 'exploded' }])(
  'changing an instance with %j is refused with invalid_args',
  async body => {
    const { id } = await service.rent()
    const answer = await service.call('PUT', `/api/v0/instances/${id}/`, body)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
    await service.call('DELETE', `/api/v0/instances/${id}/`)
  },
)

test('flaky machines end by the seed: stuck loading, exited, offline or unknown', async () => {
  const rough = await startService({ calm: false, offers: 2000 })
  try {
    const offers = await rough.offers({ type: 'on-demand' })
    for (const kind of ['stuck', 'exited', 'offline', 'unknown'] as const) {
      const offer = offers.find(({ machine_id }) => machineFate(7, machine_id, FLAKY).trouble?.kind === kind)
      const { id } = await rough.rent({}, offer)
      await rough.sim.controls.advance(5 * 3600)
      const status = kind === 'stuck' ? 'loading' : kind
      expect(await rough.instance(id)).toMatchObject({ actual_status: status, intended_status: 'running' })
    }
  } finally {
    await rough.sim.close()
  }
})

test('the same seed gives the same ids and keys in any order of rentals', async () => {
  const one = await startService({ seed: 11 })
  const two = await startService({ seed: 11 })
  try {
    expect(one.sim.apiKey).toBe(two.sim.apiKey)
    const [a, b] = await one.offers({ limit: 2 })
    const first = [await one.rent({}, a), await one.rent({}, b)]
    const second = [await two.rent({}, b), await two.rent({}, a)]
    expect(second.toReversed()).toEqual(first)
  } finally {
    await one.sim.close()
    await two.sim.close()
  }
})
