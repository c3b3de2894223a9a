import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TransferView } from '#shared/account/transfer.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { secret } from '#simulator/world/draw.ts'
import { codeOf, everyFile, instancesOf, rentCheapest } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

let world: World
let under: BerthUnderTest
let from: InstanceView
let to: InstanceView

beforeEach(async () => {
  // The tests advance the world.
  world = await createWorld({ speed: 1 })
  under = await world.startConnected()
  await rentCheapest(under)
  await under.until(() => instancesOf(under).length === 1)
  await rentCheapest(under)
  await under.until(() => instancesOf(under).length === 2)
  // One jump over both boots: two alike would count as a faster clock.
  await pass(600)
  await under.until(() => instancesOf(under).every(({ state }) => state === 'running'))
  const [one, other] = instancesOf(under)
  if (!one || !other) throw new Error('an instance has gone')
  from = one
  to = other
})
afterEach(() => world.close())

const all = () => Object.values(under.account().transfers)
function only(): TransferView {
  const [transfer, ...more] = all()
  if (!transfer || more.length > 0) throw new Error(`not one transfer: ${JSON.stringify(all())}`)
  return transfer
}
const startCopy = () =>
  under.run('startCopy', {
    request: { from: from.id, fromPath: '/root/data', to: to.id, toPath: '/root/copy' },
  })
const startSync = (more: { wideKey?: boolean } = {}) =>
  under.run('startSync', {
    request: {
      instance: from.id,
      direction: 'Instance To Cloud',
      instancePath: '/root/data',
      cloudPath: 'bucket/data',
      connection: '12',
      flags: ['--checksum'],
      ...more,
    },
  })
/** Advances the service's clock, and polls. */
async function pass(seconds: number): Promise<void> {
  await world.sim.controls.advance(seconds)
  await under.run('refresh', {})
}
/** A polled transfer is written to disk before State shows it. */
const comesTo = (step: TransferView['step']) => under.until(() => only().step === step)
const syncKeys = async () =>
  (await under.run('listApiKeys', {})).filter(({ name }) => name?.startsWith('Berth sync'))
const posted = (path: string) => world.requests('POST', path)

test('a copy is followed to its end', async () => {
  await startCopy()
  expect(only()).toMatchObject({ kind: 'copy', step: 'running', from: { instance: from.id } })
  await pass(50)
  await under.until(() => (only().progress ?? 0) > 0)
  await pass(300)
  await comesTo('done')
  expect(only().progress).toBe(1)
  await under.run('dismissTransfer', { transfer: only().id })
  expect(all()).toEqual([])
})

test('a copy of which nothing more can be known alerts', async () => {
  await startCopy()
  await under.run('destroyInstance', { instance: to.id })
  await pass(0)
  await under.until(() => only().endedAt !== undefined)
  expect(only()).toMatchObject({ step: 'unknown' })
  await expect.poll(world.titles).toContain('A copy may not be complete')
})

test('a copy is cancelled on the service', async () => {
  await startCopy()
  await pass(50)
  await under.run('cancelTransfer', { transfer: only().id })
  expect(only().step).toBe('cancelled')
  await pass(40)
  expect(under.account().instances[to.id]?.statusMessage).toContain('cancelled')
})

test('a refused copy fails with the service’s code and is not listed', async () => {
  await under.run('stopInstance', { instance: to.id })
  expect(await codeOf(startCopy())).toBe('invalid_args')
  expect(all()).toEqual([])
})

test('a copy whose answer is lost is shown as unknown until a poll finds it', async () => {
  world.sim.controls.setFaults([
    { method: 'PUT', path: '/commands/copy_direct/', kind: 'reset_after', times: 1 },
  ])
  await startCopy()
  expect(only().step).toBe('unknown')
  await pass(50)
  // On a busy machine it may have ended by the poll that finds it.
  await under.until(() => only().step !== 'unknown')
  expect(['running', 'done']).toContain(only().step)
})

test.each(['interface', 'public'])(
  'a sync’s key can start its sync and nothing else, on the deployment %s',
  async deployment => {
    await startSync()
    const [key] = await syncKeys()
    world.sim.controls.setDeployment({ deployment, ...(deployment === 'public' && { limits: 'buckets' }) })
    const stolen = secret(44, 'api key', key?.id ?? 0)
    const status = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${stolen}`, 'content-type': 'application/json' }
      const text = body === undefined ? null : JSON.stringify(body)
      return (await fetch(`${world.sim.baseUrl}/api/v0${path}`, { method, headers, body: text })).status
    }
    const sync = { src: '/root/data', dst: 'b/x', selected: '1', transfer: 'Instance To Cloud', flags: [] }
    expect(await status('POST', '/commands/rclone/', { ...sync, instance_id: String(from.id) })).toBe(200)
    expect(await status('POST', '/commands/rclone/', { ...sync, instance_id: String(to.id) })).toBe(403)
    expect(await status('PUT', `/asks/1/`, { image: 'x', disk: 10 })).toBe(403)
    for (const { id } of [from, to]) {
      expect(await status('DELETE', `/instances/${id}/`)).toBe(403)
      expect(await status('PUT', `/instances/${id}/`, { state: 'stopped' })).toBe(403)
      expect(await status('POST', `/instances/${id}/ssh/`, { ssh_key: 'ssh-ed25519 AAAA x' })).toBe(403)
      expect(await status('DELETE', '/commands/rclone/', { dst_id: id })).toBe(403)
    }
    expect(await status('POST', '/auth/apikeys/', { name: 'x', permissions: { api: { misc: {} } } })).toBe(
      403,
    )
    expect(await status('GET', '/auth/apikeys/')).toBe(403)
    expect(await status('GET', '/users/current/')).toBe(403)
  },
)

test('where the service limits no key to a copy, a sync has one only if the user agrees', async () => {
  const refusal = { method: 'POST', path: '/auth/apikeys/', kind: 'status', status: 400 } as const
  world.sim.controls.setFaults([{ ...refusal, error: 'invalid_permissions', times: 1 }])
  expect(await codeOf(startSync())).toBe('wide_key')
  expect(posted('/rclone/')).toHaveLength(0)
  expect(await syncKeys()).toEqual([])
  world.sim.controls.setFaults([{ ...refusal, error: 'invalid_permissions', times: 1 }])
  await startSync({ wideKey: true })
  expect(only().key).toMatchObject({ limited: false, scoped: true })
})

test.each([
  ['a refused key', { status: 404, error: 'auth_error' }],
  ['a success', { status: 200 }],
  ['an error', { status: 500 }],
])('%s is no proof that a key is deleted: a list without it is', async (_, answer) => {
  world.sim.controls.setFaults([{ method: 'DELETE', path: '/auth/apikeys/', kind: 'status', ...answer }])
  await startSync()
  await under.run('cancelTransfer', { transfer: only().id })
  const deletions = () => world.requests('DELETE', '/auth/apikeys/').length
  await expect.poll(deletions).toBeGreaterThan(0)
  const before = deletions()
  await expect.poll(() => pass(25).then(deletions)).toBeGreaterThan(before)
  expect(only().key?.state).toBe('in-use')
  world.sim.controls.setFaults([])
  await expect.poll(() => pass(25).then(() => only().key?.state)).toBe('deleted')
  expect(await syncKeys()).toEqual([])
})

test('a sync that the service doesn’t report loses its key within half an hour', async () => {
  world.sim.controls.setFaults([{ method: 'POST', path: '/rclone/', kind: 'reset', times: 1 }])
  await startSync()
  expect(only()).toMatchObject({ step: 'unknown', key: { state: 'in-use' } })
  for (let passed = 0; passed < 1800; passed += 300) await pass(300)
  await under.until(() => only().key?.state === 'deleted')
  expect(await syncKeys()).toEqual([])
})

test('a sync of an instance that is stopped ends, and so does its key', async () => {
  await startSync()
  await pass(50)
  await under.run('stopInstance', { instance: from.id })
  await expect.poll(() => pass(25).then(() => only().key?.state)).toBe('deleted')
  expect(await syncKeys()).toEqual([])
})

test('a sync gets a key for its own call and instance, deleted once the sync has ended', async () => {
  await startSync()
  expect(only()).toMatchObject({ step: 'running', key: { state: 'in-use', scoped: true, limited: true } })
  const [key] = await syncKeys()
  expect(key?.permissions).toEqual({
    instance_write: { 'api.commands.rclone': { constraints: { instance_id: { eq: from.id } } } },
  })
  await pass(50)
  await pass(300)
  await comesTo('done')
  await under.until(() => only().key?.state === 'deleted')
  expect(await syncKeys()).toEqual([])
})

test('cancelling a sync deletes its key', async () => {
  await startSync()
  await under.run('cancelTransfer', { transfer: only().id })
  expect(only().step).toBe('cancelled')
  await under.until(() => only().key?.state === 'deleted')
  expect(await syncKeys()).toEqual([])
})

test('a sync that the service refuses leaves no key behind', async () => {
  await under.run('stopInstance', { instance: from.id })
  expect(await codeOf(startSync())).toBe('refused')
  expect(all()).toEqual([])
  expect(await syncKeys()).toEqual([])
})

test('a sync key whose creation answer is lost is found by name and deleted', async () => {
  world.sim.controls.setFaults([{ method: 'POST', path: '/auth/apikeys/', kind: 'reset_after', times: 1 }])
  expect(await codeOf(startSync())).toBe('connection_lost')
  expect(posted('/rclone/')).toHaveLength(0)
  await expect.poll(syncKeys).toEqual([])
  expect(all()).toEqual([])
})

test('if the service can’t delete keys, Berth names the remaining one', async () => {
  world.sim.controls.setFaults([
    { method: 'DELETE', path: '/auth/apikeys/', kind: 'status', status: 405, times: 99 },
  ])
  await startSync()
  await under.run('cancelTransfer', { transfer: only().id })
  await under.until(() => only().key?.state === 'stays')
  expect(only().key?.name).toMatch(/^Berth sync t/)
})

test('a sync is followed after a restart, and its key is deleted at its end', async () => {
  await startSync()
  under = await world.restart(under)
  expect(only()).toMatchObject({ kind: 'sync', step: 'running', key: { state: 'in-use' } })
  await pass(50)
  await pass(300)
  await under.until(() => only().key?.state === 'deleted')
  expect(await syncKeys()).toEqual([])
})

test('the secret of a sync key is in no file and not in State', async () => {
  const before = new Set((await under.run('listApiKeys', {})).map(({ id }) => id))
  await startSync()
  const key = (await under.run('listApiKeys', {})).find(({ id }) => !before.has(id))
  const tail = key?.masked?.replace('…', '') ?? 'none'
  expect(tail).toHaveLength(4)
  const kept = [...(await everyFile(world)).values()].join('\n') + JSON.stringify(under.berth.state())
  expect(kept).toContain(`Berth sync ${only().id}`)
  expect(kept).not.toMatch(new RegExp(`[A-Za-z0-9]{12,}${tail}\\b`))
})

test('a sync requested as Berth ends is followed afterwards, and its key deleted', async () => {
  world.sim.controls.setFaults([{ method: 'POST', path: '/rclone/', kind: 'hang_after', times: 1 }])
  void startSync().catch(() => undefined)
  await expect.poll(() => posted('/rclone/').length).toBe(1)
  under = await world.restart(under)
  expect(only()).toMatchObject({ step: 'unknown', key: { state: 'in-use' } })
  await pass(50)
  await comesTo('running')
  await pass(300)
  await under.until(() => only().key?.state === 'deleted')
  expect(await syncKeys()).toEqual([])
})

test('a sync key created as Berth ends is deleted afterwards, without a sync', async () => {
  world.sim.controls.setFaults([{ method: 'POST', path: '/auth/apikeys/', kind: 'hang_after', times: 1 }])
  void startSync().catch(() => undefined)
  await expect.poll(() => posted('/auth/apikeys/').length).toBe(1)
  under = await world.restart(under)
  expect(only().step).toBe('failed')
  await expect.poll(world.titles).toContain('A cloud sync failed')
  await under.until(() => only().key?.state === 'deleted')
  expect(posted('/rclone/')).toHaveLength(0)
})

test('removing an account deletes the key of its sync', async () => {
  await startSync()
  const [key] = await syncKeys()
  await under.run('removeAccount', { account: under.account().id })
  expect(world.requests('DELETE', `/auth/apikeys/${key?.id}`)).toHaveLength(1)
})
