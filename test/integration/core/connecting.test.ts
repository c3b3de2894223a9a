import { createServer, type RequestListener } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import { codeOf, everyFile, problemOf, rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { listen } from '#test/loopback.ts'

let world: World
const closing: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  world = await createWorld()
})
afterEach(async () => {
  await world.close()
  await Promise.all(closing.splice(0).map(close => close()))
})

/** Expects no trace of an attempt to connect. */
async function nothingStored({ berth }: BerthUnderTest, ...traces: string[]): Promise<void> {
  expect(berth.state().accounts).toEqual({})
  expect([...world.keychain.entries]).toEqual([])
  const everything = [...(await everyFile(world)).values(), JSON.stringify(berth.state())].join('\n')
  for (const trace of traces) expect(everything).not.toContain(trace)
}

/** An HTTP server that is not this service. */
async function stranger(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  closing.push(async () => server.close())
  return `http://127.0.0.1:${await listen(server)}`
}

test('a wrong key is refused, and nothing of it is stored', async () => {
  const under = await world.start()
  const key = 'wrong-key-0123456789'
  const problem = await problemOf(under.run('connectAccount', { baseUrl: world.sim.baseUrl, key }))
  expect(problem.code).toBe('unauthorized')
  expect(problem.advice).toBe('Copy the whole key again, or create a new one in the service’s web console.')
  await nothingStored(under, key, world.sim.baseUrl)
})

test.each([
  ['ftp://gpu.example', 'bad_url'],
  ['gpu example', 'bad_url'],
  ['javascript:alert(1)', 'bad_url'],
  ['file:///etc/passwd', 'bad_url'],
  ['https://user:pw@gpu.example', 'url_has_credentials'],
  ['http://gpu.example', 'insecure_url'],
  ['https://gpu.example/?q=1', 'bad_url'],
])('the base URL %s is refused with a message, and nothing is stored', async (baseUrl, code) => {
  const under = await world.start()
  const problem = await problemOf(under.run('connectAccount', { baseUrl, key: 'some-key' }))
  expect(problem.code).toBe(code)
  expect(problem.message).toMatch(/^[A-Z].*\.$/)
  // The form shows it at this field.
  expect(problem.field).toBe('baseUrl')
  expect(JSON.stringify(problem)).not.toContain('pw@')
  await nothingStored(under, 'some-key', baseUrl)
})

test.each<[string, RequestListener]>([
  ['a web page', (_, response) => response.end('<html>Welcome</html>')],
  ['nothing to find', (_, response) => response.writeHead(404).end()],
  ['JSON of another kind', (_, response) => response.end('{"hello":"world"}')],
  [
    'a redirect elsewhere',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  ],
])('an address that answers with %s is refused as not this service', async (_, answer) => {
  const under = await world.start()
  const baseUrl = await stranger(answer)
  const problem = await problemOf(under.run('connectAccount', { baseUrl, key: 'some-key' }))
  expect(['not_this_service', 'redirected']).toContain(problem.code)
  await nothingStored(under, 'some-key')
})

test('the key is stored for its address alone, and the account is back after a restart', async () => {
  const first = await world.startConnected()
  const { id } = first.account()
  expect([...world.keychain.entries]).toEqual([[`${world.sim.baseUrl} ${id}`, world.sim.apiKey]])
  const second = await world.restart(first)
  expect(second.account().id).toBe(id)
})

test('connecting the same user again replaces the key instead of adding an account', async () => {
  const under = await world.startConnected()
  const { baseUrl, apiKey } = world.sim
  await under.run('connectAccount', { baseUrl: `${baseUrl}/`, key: apiKey })
  expect(Object.keys(under.berth.state().accounts)).toHaveLength(1)
})

test('where the list of accounts is broken, connecting the same user again finds the limits', async () => {
  const first = await world.startConnected()
  const { id } = await rentRunning(first, {
    limits: [{ when: { kind: 'cost', dollars: 20 }, action: 'stop', asleep: false }],
  })
  const limits = Object.keys(first.account().limits)
  await first.close()
  await world.platform.files.write('accounts.json', '{"accounts": [')
  const second = await world.start()
  expect(second.berth.state().accounts).toEqual({})
  expect(world.notifier.shown.at(-1)?.body).toContain('accounts.json.broken')
  await second.run('connectAccount', { baseUrl: world.sim.baseUrl, key: world.sim.apiKey })
  await second.until(() => second.account().instances[id]?.state === 'running')
  expect([limits.length, Object.keys(second.account().limits)]).toEqual([1, limits])
})

test('connecting the same user twice at once makes one account', async () => {
  const under = await world.start()
  const { baseUrl, apiKey: key } = world.sim
  const { set } = world.keychain
  // The first key is stored only after both have read their user.
  world.keychain.set = async (name, secret) => {
    await expect.poll(() => world.requests('GET', '/users/current').length).toBeGreaterThanOrEqual(2)
    await set(name, secret)
  }
  const ids = await Promise.all(
    [baseUrl, `${baseUrl}/`].map(url => under.run('connectAccount', { baseUrl: url, key })),
  )
  expect(new Set(ids).size).toBe(1)
  expect(Object.keys(under.berth.state().accounts)).toEqual([ids[0]])
  expect([...world.keychain.entries.keys()]).toHaveLength(1)
})

test('a key that needs a two-factor login is stored and waits for that login', async () => {
  const under = await world.start()
  const { baseUrl, apiKey: key } = world.sim
  world.sim.controls.setFaults([{ path: '^/api/v0/(users/current|instances)', kind: 'status', status: 403 }])
  await under.run('connectAccount', { baseUrl, key })
  await under.until(() => under.account().connection.status === 'refused')
  expect(under.account()).not.toHaveProperty('userId', expect.anything())
  expect(await under.run('twoFactorStatus', {})).toMatchObject({ methods: expect.any(Array) })
  await under.run('connectAccount', { baseUrl, key })
  expect(Object.keys(under.berth.state().accounts)).toHaveLength(1)
})

test('a key that is not in the keychain locks the account until it is entered again', async () => {
  const first = await world.startConnected()
  await first.close()
  world.keychain.entries.clear()
  const second = await world.start()
  expect(second.account().connection).toMatchObject({ status: 'locked', problem: { code: 'key_missing' } })
  const before = world.sim.controls.requests().length
  second.berth.pollNow()
  await second.run('refresh', {})
  expect(await codeOf(rentRunning(second))).toBe('key_missing')
  expect(world.sim.controls.requests()).toHaveLength(before)
  const wrong = { account: second.account().id, key: 'wrong-key-0123456789' }
  expect(await problemOf(second.run('replaceKey', wrong))).toMatchObject({
    code: 'unauthorized',
    field: 'key',
  })
  await second.run('replaceKey', { account: second.account().id, key: world.sim.apiKey })
  await second.until(() => second.account().connection.status === 'online')
})

test('without a keychain the account is locked with a message that says so', async () => {
  await (await world.startConnected()).close()
  world.keychain.entries.clear()
  Object.assign(world.keychain, { problem: 'This computer has no keychain.' })
  expect((await world.start()).account().connection).toMatchObject({
    status: 'locked',
    problem: {
      code: 'key_missing',
      message: 'The keychain isn’t available, so Berth doesn’t have this account’s API key.',
      advice: 'Unlock the keychain and try again, or enter the key once more.',
    },
  })
})

test('an account with a broken address is locked but can be removed', async () => {
  const first = await world.startConnected()
  await first.close()
  const text = (await world.platform.files.read('accounts.json')) ?? ''
  await world.platform.files.write('accounts.json', text.replace(world.sim.baseUrl, 'not an address'))
  const second = await world.start()
  expect(second.account().connection).toMatchObject({ status: 'locked' })
  await second.run('removeAccount', { account: second.account().id })
  expect(second.berth.state().accounts).toEqual({})
})

test('an invalid key in the keychain locks the account until it is entered again', async () => {
  const first = await world.startConnected()
  await first.close()
  for (const name of world.keychain.entries.keys()) world.keychain.entries.set(name, 'two words')
  const second = await world.start()
  expect(second.account().connection).toMatchObject({ status: 'locked', problem: { code: 'bad_key' } })
  await second.run('replaceKey', { account: second.account().id, key: world.sim.apiKey })
  await second.until(() => second.account().connection.status === 'online')
})

test('a removed account leaves no files or keys, and its instances keep running', async () => {
  const under = await world.startConnected()
  const { id } = await rentRunning(under)
  const account = under.account().id
  await under.run('removeAccount', { account })
  expect(under.berth.state().accounts).toEqual({})
  expect([...world.keychain.entries]).toEqual([])
  const kept = [...(await everyFile(world)).keys()].filter(name => name.includes(`accounts/${account}/`))
  expect(kept).toEqual([])
  expect(world.sim.controls.ledger().instances.map(total => total.instance_id)).toEqual([id])
})

test('the API key is in no file, no State, no message to a page and no activity', async () => {
  const sent: MainMessage[] = []
  const under = await world.startConnected()
  const page = under.berth.connectPage(message => {
    sent.push(message)
    return true
  })
  page.receive({ kind: 'sync' })
  const { baseUrl, apiKey } = world.sim
  page.receive({ kind: 'command', call: 1, name: 'connectAccount', args: { baseUrl, key: apiKey } })
  page.receive({ kind: 'command', call: 2, name: 'connectAccount', args: { baseUrl: apiKey, key: apiKey } })
  const secret = 'env-secret-value'
  const env = [{ name: 'HF_TOKEN', value: secret, secret: true }]
  const { id } = await rentRunning(under, { env })
  page.receive({ kind: 'command', call: 3, name: 'instanceRecord', args: { instance: id } })
  page.receive({ kind: 'command', call: 4, name: 'findReplacement', args: { instance: id } })
  await under.run('replaceKey', { account: under.account().id, key: apiKey })
  await expect.poll(() => sent.filter(({ kind }) => kind === 'answer' || kind === 'refusal').length).toBe(4)
  const activity = await under.run('searchActivity', { text: '', limit: 500 })
  await under.close()

  const everything = [
    ...(await everyFile(world)).values(),
    JSON.stringify(under.berth.state()),
    JSON.stringify(sent),
    JSON.stringify(activity),
    JSON.stringify(world.notifier.shown),
  ]
  for (const text of everything) {
    expect(text.includes(apiKey)).toBe(false)
    expect(text.includes(secret)).toBe(false)
  }
  expect([...world.keychain.entries.keys()].some(name => name.startsWith('rental '))).toBe(false)
})
