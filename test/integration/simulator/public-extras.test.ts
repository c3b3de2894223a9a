import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { type Service, startService } from './service.ts'

const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHnqUFHT/g2YKfZ4It9BNBle4xzsgknad5PQ/Ahd+gfK someone@somewhere'

let service: Service
beforeAll(async () => {
  service = await startService({ deployment: publicProfile })
})
afterAll(() => service.sim.close())

test('a search gives at most 64 offers, whatever its limit', async () => {
  expect(await service.offers({ limit: 100 })).toHaveLength(64)
  expect(await service.offers({ limit: 3 })).toHaveLength(3)
})

test('a search accepts the filters of the public clients, and refuses unknown ones', async () => {
  const found = await service.offers({
    type: 'ondemand',
    verified: { eq: true },
    external: { eq: false },
    rentable: { eq: true },
    rented: { eq: false },
    num_gpus: { eq: '2' },
    geolocation: { in: ['US', 'DE'] },
    cuda_vers: { gte: '12.0' },
    driver_version: { gte: 535_000_000 },
    allocated_storage: 8,
  })
  expect(found.length).toBeGreaterThan(0)
  expect(found.every(offer => offer.num_gpus === 2)).toBe(true)
  const bad = await service.call('POST', '/api/v0/bundles/', { colour: { eq: 'red' } })
  expect(bad).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test.each([
  ['POST', '/api/v0/bundles/'],
  ['PUT', '/api/v0/search/asks/'],
])('%s %s refuses a body that is no JSON', async (method, path) => {
  expect(await service.call(method, path, '{"limit": ')).toMatchObject({
    status: 400,
    body: { success: false, error: 'invalid_request', msg: 'Invalid json body' },
  })
})

test('a boolean filter finds 1 as true and 0 as false', async () => {
  const offers = (filter: unknown) => service.offers({ has_avx: filter })
  for (const yes of [{ eq: true }, { eq: 'true' }, { eq: 1 }, { neq: false }, { in: [true] }])
    expect((await offers(yes)).length, JSON.stringify(yes)).toBeGreaterThan(0)
  for (const no of [{ eq: false }, { neq: true }, { notin: [true] }]) expect(await offers(no)).toEqual([])
})

test('an offer’s flops per dollar use its price, with the discount', async () => {
  const offers = (await service.offers({ type: 'reserved', allocated_storage: 100 })) as never as Record<
    string,
    number
  >[]
  for (const { total_flops = 0, dph_total = 0, flops_per_dphtotal, ...offer } of offers) {
    expect(flops_per_dphtotal).toBeCloseTo(total_flops / dph_total, 6)
    expect(offer).toMatchObject({ discounted_hourly: 0, discounted_dph_total: dph_total, discount_rate: 0 })
  }
  expect(offers.length).toBeGreaterThan(0)
})

test('a rented offer answers 410, an unknown one 404, both with no_such_ask', async () => {
  const [offer] = await service.offers({ limit: 1 })
  const { id } = await service.rent({}, offer)
  const [again, never] = await Promise.all(
    [offer?.id, 1].map(ask => service.call('PUT', `/api/v0/asks/${ask}/`, { image: 'ubuntu' })),
  )
  expect(again).toMatchObject({ status: 410, body: { error: 'no_such_ask' } })
  expect(never).toMatchObject({
    status: 404,
    body: { error: 'invalid_args', msg: expect.stringContaining('no_such_ask') },
  })
  await service.call('DELETE', `/api/v0/instances/${id}/`)
})

test.each([
  ['ssh_direct', 'ssh_direct'],
  ['ssh_direc ssh_proxy', 'ssh_direc ssh_proxy'],
  ['jupyter_direc ssh_direc ssh_proxy', 'jupyter_direc ssh_direc ssh_proxy'],
  [null, 'ssh'],
])('the runtype %s is shown as %s', async (runtype, shown) => {
  const env = '-e A=b -p 8080:8080'
  const { id } = await service.rent({ runtype, env, image_login: '-u bob -p token docker.io' })
  const instance = await service.instance(id)
  expect(instance).toMatchObject({ image_runtype: shown, extra_env: expect.arrayContaining([['A', 'b']]) })
  await service.call('DELETE', `/api/v0/instances/${id}/`)
})

test('a log is fetched from another origin without the key, once it is uploaded', async () => {
  const { id } = await service.rent()
  await service.sim.controls.advance(3600)
  const path = `/api/v0/instances/request_logs/${id}/`
  const { body } = await service.call('PUT', path, { tail: '5', filter: 'loss' })
  const address = body['result_url'] as string
  expect(new URL(address).origin).not.toBe(service.sim.baseUrl)
  const authorization = `Bearer ${service.sim.apiKey}`
  expect((await fetch(address, { headers: { authorization } })).status).toBe(400)
  expect((await fetch(address)).status).toBe(403)
  expect((await fetch(address)).status).toBe(404)
  const there = await fetch(address)
  expect(there.status).toBe(200)
  expect((await there.text()).trim().split('\n')).toHaveLength(5)
  const unknown = await service.call('PUT', '/api/v0/instances/request_logs/1/', {})
  expect(unknown).toMatchObject({ status: 404, body: { error: 'invalid_id' } })
  await service.call('DELETE', `/api/v0/instances/${id}/`)
})

test('a volume is mounted only on its own machine, and charged', async () => {
  const { body: search } = await service.call('POST', '/api/v0/volumes/search/', { disk_space: { gte: 30 } })
  const [room] = search['offers'] as { id: number; machine_id: number }[]
  const rented = await service.call('PUT', '/api/v0/volumes/', { id: room?.id, size: 20, name: 'data' })
  const volume_id = Number(String(rented.body['volume_name']).replace(/^V\./, ''))
  const volume_info = { create_new: false, volume_id, mount_path: '/data' }
  const [there] = await service.offers({ machine_id: { neq: room?.machine_id }, limit: 1 })
  const wrong = { image: 'ubuntu', volume_info }
  expect((await service.call('PUT', `/api/v0/asks/${there?.id}/`, wrong)).status).toBe(400)
  await service.sim.controls.advance(3600)
  const charged = service.sim.controls.ledger().instances.find(row => row.instance_id === volume_id)
  expect(charged?.disk_micro_dollars).toBeGreaterThan(0)
  expect((await service.call('DELETE', `/api/v0/volumes/?id=${volume_id}`)).status).toBe(200)
  const again = await service.call('DELETE', `/api/v0/volumes/?id=${volume_id}`)
  expect(again.body).toMatchObject({ error: 'no_such_volume' })
})

test('a port from 70000 on has the same number inside and outside; 64 are mapped at most', async () => {
  const { id } = await service.rent({ env: { '-p 70000:70000': '1', '-p 8080:8080': '1' } })
  await service.sim.controls.advance(400)
  const ports = (await service.instance(id))['ports'] as Record<string, { HostPort: string }[]>
  const same = Object.entries(ports).filter(([inside, [to]]) => inside === `${to?.HostPort}/tcp`)
  expect(same).toHaveLength(1)
  expect(ports).not.toHaveProperty('70000/tcp')
  expect(ports).toHaveProperty('8080/tcp')
  await service.call('DELETE', `/api/v0/instances/${id}/`)
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`-p ${7000 + index}:${7000 + index}`, 1]))
  const [offer] = await service.offers({ limit: 1 })
  const rent = (count: number) =>
    service.call('PUT', `/api/v0/asks/${offer?.id}/`, { image: 'ubuntu', env: many(count) })
  expect(await rent(65)).toMatchObject({ status: 400, body: { error: 'invalid_args' } })
  for (const odd of ['-p 69999:69999', '-p 70000:70001', '-p 80:70000']) {
    const env = { [odd]: '1' }
    const refused = await service.call('PUT', `/api/v0/asks/${offer?.id}/`, { image: 'ubuntu', env })
    expect(refused.status, odd).toBe(400)
  }
  const made = await rent(64)
  expect(made.status).toBe(200)
  await service.call('DELETE', `/api/v0/instances/${made.body['new_contract']}/`)
})

test('no SSH keys are an empty list, or 404 where the profile says so', async () => {
  expect((await service.call('GET', '/api/v0/ssh/')).body).toEqual([])
  await service.call('POST', '/sim/deployment', { keyless: '404' })
  expect((await service.call('GET', '/api/v0/ssh/')).status).toBe(404)
  await service.call('POST', '/sim/deployment', { keyless: 'list' })
})

test('an instance’s SSH keys come as JSON text, and one is detached by its id', async () => {
  const { id } = await service.rent()
  const path = `/api/v0/instances/${id}/ssh/`
  await service.call('POST', path, { ssh_key: PUBLIC_KEY })
  const keys = async () => JSON.parse((await service.call('GET', path)).body['ssh_keys'] as string)
  expect(await keys()).toMatchObject([{ id: 1, public_key: PUBLIC_KEY }])
  expect((await service.call('DELETE', `${path}1/`)).status).toBe(200)
  expect(await keys()).toEqual([])
  await service.call('DELETE', `/api/v0/instances/${id}/`)
})

test('a webhook has an https address of up to 2048 characters, and a name of up to 120', async ({
  onTestFinished,
}) => {
  const service = await startService({ deployment: publicProfile })
  onTestFinished(() => service.sim.close())
  const address = (length: number) => 'https://example.com/'.padEnd(length, 'x')
  const send = async (path: string, method: string, content: object) =>
    (await service.call(method, `/api/v0/webhooks/${path}`, { event_types: ['client:outbid'], ...content }))
      .body
  const { webhook } = await send('', 'POST', { webhook_url: address(2048) })
  const { id } = webhook as { id: number }
  expect(await send(`${id}/`, 'PUT', { name: 'x'.repeat(120) })).toMatchObject({ success: true })
  const refused = { success: false, error: 'invalid_args' }
  expect(await send('', 'POST', { webhook_url: 'http://example.com/hook' })).toMatchObject({ success: false })
  for (const [path, method] of [
    ['', 'POST'],
    [`${id}/`, 'PUT'],
  ] as const) {
    expect(await send(path, method, { webhook_url: address(2049) })).toMatchObject(refused)
    const long = { webhook_url: address(30), name: 'x'.repeat(121) }
    expect(await send(path, method, long)).toMatchObject(refused)
  }
})

test('a template needs no registry login, exists once, and is deleted by its hash', async () => {
  const content = { name: 'mine', image: 'ubuntu', docker_login_repo: null, runtype: 'ssh' }
  const first = await service.call('POST', '/api/v0/template/', content)
  const again = await service.call('POST', '/api/v0/template/', content)
  expect(again.body['template']).toEqual(first.body['template'])
  const { hash_id } = first.body['template'] as { hash_id: string }
  expect((await service.call('DELETE', '/api/v0/template/', { hash_id })).status).toBe(200)
  const filters = encodeURIComponent(JSON.stringify({ hash_id: { eq: hash_id } }))
  const { body } = await service.call('GET', `/api/v0/template/?select_filters=${filters}`)
  expect(body).toMatchObject({ templates_found: 0 })
})

test.each([
  ['count_created', (a: number, b: number) => a - b],
  ['[{"col":"count_created","dir":"desc"}]', (a: number, b: number) => b - a],
])('templates are ordered by %s, and limited to columns', async (order_by, compare) => {
  const query = new URLSearchParams({ order_by, select_cols: '["id","count_created","nothing"]' })
  const { body } = await service.call('GET', `/api/v0/template/?${query}`)
  const templates = body['templates'] as Record<string, number>[]
  const launches = templates.map(({ count_created = 0 }) => count_created)
  expect(new Set(launches).size).toBeGreaterThan(5)
  expect(launches).toEqual(launches.toSorted(compare))
  expect(templates[0]).toEqual({ id: expect.any(Number), count_created: launches[0], nothing: null })
  const unknown = await service.call('GET', '/api/v0/template/?order_by=nothing')
  expect(unknown).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test('a key scoped to billing reads charges, is listed without its secret, and deleted', async () => {
  const permissions = { api: { billing_read: {} } }
  const made = await service.call('POST', '/api/v0/auth/apikeys/', { name: 'bills', permissions })
  const { id, key } = made.body as { id: number; key: string }
  const day = encodeURIComponent(JSON.stringify({ day: { gte: 0, lte: 1 } }))
  const charges = `/api/v0/charges/?select_filters=${day}`
  expect((await service.call('GET', charges, undefined, key)).status).toBe(200)
  expect((await service.call('GET', '/api/v0/users/current/', undefined, key)).status).toBe(403)
  const { body } = await service.call('GET', '/api/v0/auth/apikeys/')
  expect((body['apikeys'] as object[]).at(-1)).not.toHaveProperty('key')
  const gone = await service.call('DELETE', `/api/v0/auth/apikeys/${id}/`)
  expect(gone.body).toBe('Successfully Deleted API Key')
})

test('a copy names its instances as C.123', async () => {
  const one = await service.rent()
  const two = await service.rent()
  await service.sim.controls.advance(400)
  const sides = { src_id: `C.${one.id}`, src_path: '/a', dst_id: `C.${two.id}`, dst_path: '/b' }
  const copied = await service.call('PUT', '/api/v0/commands/copy_direct/', sides)
  expect(copied).toMatchObject({ status: 200, body: { success: true } })
  const cancelled = await service.call('DELETE', '/api/v0/commands/copy_direct/', { dst_id: `C.${two.id}` })
  expect(cancelled.body).toMatchObject({ success: true })
})
