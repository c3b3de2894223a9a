import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import { readFirstState } from '#core/first-state.ts'
import { openFiles } from '#platform/files.ts'
import type { WatchRequest } from '#shared/automation/watch.ts'
import {
  codeOf,
  everCreated,
  everyFile,
  instancesOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
} from '#test/berth/steps.ts'
import { type BerthUnderTest, test, type World } from '#test/berth/world.ts'
import { retriesRequest } from './renting/request.ts'

test('a restart shows the last known state at once, though the service is down', async ({ world }) => {
  const first = await world.startConnected()
  const { id } = await rentRunning(first)
  const before = first.account()
  await first.close()
  world.sim.controls.setFaults([{ kind: 'status', status: 500 }])
  const second = await world.start()
  expect(second.account()).toMatchObject({
    connection: { since: expect.any(Number) },
    email: before.email,
    instances: { [id]: { state: 'running' } },
  })
  expect(second.account().instances[id]?.history).toEqual(before.instances[id]?.history)
  await second.until(() => second.account().connection.status === 'offline')
  expect(instancesOf(second)).toHaveLength(1)
})

test('a page shows the last instances before Berth runs, which then answers it', async ({ world }) => {
  const { clock, files } = world.platform
  const about = { version: 'test', shell: 'electron', platform: 'linux' } as const
  const before = await world.startConnected()
  expect(await readFirstState(files, clock, about)).toBeUndefined()
  const { id } = await rentRunning(before)
  await before.close()

  const first = await readFirstState(files, clock, about)
  if (!first) throw new Error('nothing was remembered')
  const got: MainMessage[] = []
  const page = first.connectPage(message => got.push(message) > 0)
  page.receive({ kind: 'sync' })
  page.receive({ kind: 'command', call: 1, name: 'changeSettings', args: { settings: { theme: 'dark' } } })
  page.receive({
    kind: 'command',
    call: 2,
    name: 'reportPlace',
    args: { focused: true, screen: 'instances' },
  })
  await first.drawn
  expect(got).toMatchObject([{ kind: 'state', state: { settings: { theme: 'system', pollInterval: 2 } } }])
  const seen = () => Object.values(first.store.get().accounts).map(({ instances }) => Object.keys(instances))
  expect(seen()).toEqual([[String(id)]])

  const lost: unknown[] = []
  first.store.onChange(() => seen()[0]?.[0] === String(id) || lost.push(seen()))
  const under = await world.start({ first })
  await under.until(({ settings }) => settings.theme === 'dark')
  await under.until(() => under.account().connection.status === 'online')
  expect(lost).toEqual([])
  await expect.poll(() => got.filter(({ kind }) => kind === 'answer')).toHaveLength(2)
  page.close()
})

/** What stores a secret, by the file that a kill keeps from being written after it. */
const keeping: [string, (under: BerthUnderTest) => Promise<unknown>][] = [
  ['rentals.json', under => rentCheapest(under, { env: [secret] })],
  ['watches.json', under => under.run('saveWatch', { request: rentingWatch() })],
]
const secret = { name: 'HF_TOKEN', value: 'secret-value', secret: true }

function rentingWatch(): WatchRequest {
  const { search, request, limits } = retriesRequest({}, { env: [secret] })
  const rents = { request, limits: { ...limits, price: 0.001 }, most: 1 }
  return { name: 'Bargains', search: { ...search, filter: { priceTo: 0.001 } }, every: 60, rents }
}

/** Fails writes as a full disk does, by a file's name and how often rentals were written; returns what ends it. */
function breakWrites({ platform }: World, fails: (name: string, rentals: number) => boolean): () => void {
  const { files } = platform
  let rentals = 0
  const write = async (name: string, text: string) => {
    if (name.endsWith('/rentals.json')) rentals += 1
    if (fails(name, rentals)) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    return files.write(name, text)
  }
  Object.assign(platform, { files: { ...files, write } })
  return () => void Object.assign(platform, { files })
}

const storedSecrets = ({ keychain }: World) =>
  [...keychain.entries.keys()].filter(name => name.startsWith('rental '))

test.for(keeping)(
  'a secret stored before a kill kept %s from being written is deleted after a restart',
  async ([file, keep], { world }) => {
    await (await world.startConnected()).close()
    const forgetting = world.keychain.delete
    const broken = () => Promise.reject(new Error('killed'))
    const repair = breakWrites(world, name => name.endsWith(`/${file}`))
    const second = await world.start()
    await second.until(() => second.account().connection.status === 'online')
    world.keychain.delete = broken
    await expect(keep(second)).rejects.toThrow()
    expect(storedSecrets(world)).toHaveLength(1)
    await second.close()
    world.keychain.delete = forgetting
    repair()
    const third = await world.start()
    expect(storedSecrets(world)).toEqual([])
    expect(third.account()).toMatchObject({ rentals: {}, watches: {} })
  },
)

test('a full disk delays a rental, without failing it', async ({ world }) => {
  let isFull = false
  breakWrites(world, (_, rentals) => isFull && rentals > 1)
  const under = await world.startConnected()
  isFull = true
  await rentCheapest(under)
  await under.until(() => rentalsOf(under)[0]?.problem?.code === 'not_written')
  expect([rentalsOf(under)[0]?.step, everCreated(world)]).toEqual(['asking', 0])
  isFull = false
  await under.until(() => instancesOf(under)[0]?.state === 'running')
  expect(everCreated(world)).toBe(1)
})

test('a rental that was not requested before a kill is not requested hours later', async ({ world }) => {
  const repair = breakWrites(world, (_, rentals) => rentals > 1)
  const first = await world.startConnected()
  await rentCheapest(first)
  await first.close()
  repair()
  await world.sleep(3 * 3600)
  const second = await world.start()
  await second.until(() => rentalsOf(second)[0]?.step === 'failed')
  expect(rentalsOf(second)[0]?.problem?.code).toBe('too_old')
  expect(everCreated(world)).toBe(0)
})

test('a secret survives restarts until its watch or account ends', async ({ world }) => {
  const first = await world.startConnected()
  const watch = await first.run('saveWatch', { request: rentingWatch() })
  await first.close()
  const second = await world.start()
  expect(storedSecrets(world)).toEqual([`rental ${watch}`])
  const { rents: _, ...tells } = rentingWatch()
  await second.run('saveWatch', { watch, request: tells })
  expect(storedSecrets(world)).toEqual([])
  await second.run('saveWatch', { watch, request: rentingWatch() })
  expect(storedSecrets(world)).toHaveLength(1)
  await second.run('removeAccount', { account: second.account().id })
  expect([...world.keychain.entries]).toEqual([])
})

test('removing an account continues after a kill, until its keys and files are deleted', async ({
  world,
}) => {
  const first = await world.startConnected()
  const { id } = first.account()
  const forgetting = world.keychain.delete
  world.keychain.delete = () => new Promise(() => undefined)
  void first.run('removeAccount', { account: id })
  await expect.poll(() => world.platform.files.read('accounts.json')).toContain('"leaving": true')
  await first.close()
  world.keychain.delete = forgetting
  expect(world.keychain.entries.size).toBe(1)
  const second = await world.start()
  await second.until(state => Object.keys(state.accounts).length === 0)
  await expect.poll(() => [...world.keychain.entries]).toEqual([])
  await expect.poll(() => world.platform.files.list(`accounts/${id}`)).toEqual([])
})

test('a key stored right before a kill, without its account, is deleted after a restart', async ({
  world,
}) => {
  const first = await world.start()
  const storing = world.keychain.set
  world.keychain.set = async (name, secret) => {
    await storing(name, secret)
    await new Promise(() => undefined)
  }
  void first.run('connectAccount', { baseUrl: world.sim.baseUrl, key: world.sim.apiKey })
  await expect.poll(() => world.keychain.entries.size).toBe(1)
  await first.close()
  world.keychain.set = storing
  const second = await world.start()
  await expect.poll(() => [...world.keychain.entries]).toEqual([])
  await second.until(state => Object.keys(state.accounts).length === 0)
})

test('the demo leaves nothing in the real files or the keychain', async ({ world }) => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-demo-test-'))
  const { controls, baseUrl, apiKey } = world.sim
  const start = async () => ({ baseUrl, key: apiKey, controls })
  const demo = { atStart: false, speed: 60, files: openFiles(folder), start }
  const under = await world.start({ demo })
  expect(under.berth.state().accounts).toEqual({})
  expect(await codeOf(under.run('demoEvent', { event: 'low_credit' }))).toBe('no_demo')
  await Promise.all([under.run('tryDemo', {}), under.run('tryDemo', {})])
  expect(under.account()).toMatchObject({ id: 'demo', demo: true })
  await under.until(() => under.account().connection.status === 'online')
  controls.setCredit(100)
  await rentRunning(under)
  await under.run('saveWatch', { request: rentingWatch() })
  await under.run('demoEvent', { event: 'low_credit' })
  expect(world.notifier.shown.map(({ id }) => id)).toContain('demo/credit')
  await under.run('renameAccount', { account: 'demo', name: 'Mine' })
  // Its own key stays, since no other could replace it.
  const own = (await under.run('listApiKeys', {})).find(key => key.inUse)
  expect(await codeOf(under.run('deleteApiKey', { id: own?.id ?? 0 }))).toBe('demo_stays')
  // Codes that the service would have sent can be read in Berth instead.
  expect(await under.run('demoMessage', {})).toBeUndefined()
  await under.run('sendEmailCode', {})
  expect(await under.run('demoMessage', {})).toMatchObject({
    channel: 'email',
    to: expect.stringContaining('@'),
    code: expect.stringMatching(/^\d{6}$/),
  })
  await under.close()

  const real = [...(await everyFile(world))]
  expect(real.map(([name]) => name).filter(name => name.includes('demo'))).toEqual([])
  expect(real.map(([, text]) => text).join('\n')).not.toMatch(/demo|Rented|127\.0\.0\.1/)
  expect([...world.keychain.entries]).toEqual([])
  const again = await world.start()
  expect(again.berth.state().accounts).toEqual({})
  expect(again.berth.state().activity).toEqual({})
  await rm(folder, { recursive: true, maxRetries: 20 })
})
