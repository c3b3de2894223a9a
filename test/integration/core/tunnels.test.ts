import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'vitest'
import type { InstanceView } from '#shared/instance/instance.ts'
import { tunnelKey } from '#shared/instance/tunnel.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import { askByName } from '#test/ask-by-name.ts'
import { codeOf, instancesOf, rentRunning } from '#test/berth/steps.ts'
import { plainTemplate } from '#test/berth/template.ts'
import { type BerthUnderTest, test, type World } from '#test/berth/world.ts'

/** Rents an instance and lets the time of its boot pass. */
async function rentBooted(
  world: World,
  under: BerthUnderTest,
  more?: Partial<RentRequest>,
): Promise<InstanceView> {
  const renting = rentRunning(under, more)
  await under.until(() => instancesOf(under).length > 0)
  await world.sim.controls.advance(300)
  return renting
}

test('Jupyter opens with its token, which is in the opened address and not in State', async ({ world }) => {
  const opened: string[] = []
  world.platform.opener.openPrivately = async url => void opened.push(url)
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under, { access: 'jupyter' })
  const steps: string[] = []
  under.berth.onChange(({ accounts, shown }) => {
    const step = accounts[shown ?? '']?.tunnels[tunnelKey(id, 8080)]?.step
    if (step && steps.at(-1) !== step) steps.push(step)
  })
  const { url = '', opened: given } = await under.run('openJupyter', { instance: id })
  expect(given).toBe(true)
  expect(opened).toEqual([url])
  expect(steps).toEqual(['connecting', 'waiting', 'open'])
  const page = await askByName(url)
  expect(page.status).toBe(200)
  expect(page.text).toContain('Jupyter')
  const token = new URL(url).searchParams.get('token') ?? ''
  expect(token).not.toBe('')
  expect(JSON.stringify(under.berth.state())).not.toContain(token)

  const { tunnels } = under.account()
  expect(tunnels[tunnelKey(id, 8080)]).toEqual({
    instance: id,
    kind: 'jupyter',
    name: 'Jupyter',
    port: 8080,
    host: new URL(url).hostname,
    localPort: Number(new URL(url).port),
    step: 'open',
    web: true,
    reached: true,
  })
  expect(under.account().ways[id]?.address).toMatch(/^root@.*:\d+$/)
  // A second request gives the same tunnel.
  expect((await under.run('openJupyter', { instance: id })).url).toBe(url)
  expect(opened).toEqual([url, url])
  // With `open: false` the address is returned and not opened.
  expect(await under.run('openJupyter', { instance: id, open: false })).toEqual({ url, opened: false })
  expect(opened).toEqual([url, url])

  await under.run('closeTunnel', { instance: id, port: 8080 })
  expect(under.account().tunnels).toEqual({})
  await expect(askByName(url)).rejects.toThrow()
  await under.until(() => under.account().ways[id] === undefined)
})

test('a port where nothing listens is waited for until its tunnel is closed', async ({ world }) => {
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under)
  const opening = under.run('openPort', { instance: id, port: 3000 })
  await under.until(() => under.account().tunnels[tunnelKey(id, 3000)]?.step === 'waiting')
  await under.run('closeTunnel', { instance: id, port: 3000 })
  expect(await codeOf(opening)).toBe('tunnel_closed')
  expect(under.account().tunnels).toEqual({})
  expect(await codeOf(under.run('openPort', { instance: id, port: 0 }))).toBe('invalid_argument')
})

test('ports that answer are found, and those of the template even when silent', async ({ world }) => {
  const under = await world.startConnected()
  const { hash } = await under.run('createTemplate', {
    fields: { ...plainTemplate, image: 'comfyui', runtype: 'jupyter', env: '-p 8188:8188 -p 53:53/udp' },
  })
  const { id } = await rentBooted(world, under, {
    access: 'jupyter',
    template: { hash, name: plainTemplate.name },
  })
  const found = await under.run('findPorts', { instance: id })
  expect(found).toEqual([
    { port: 8080, name: 'Jupyter', answers: true },
    { port: 8188, name: 'ComfyUI', answers: false },
  ])
})

/** Holds back the timers of so many milliseconds, until the test calls them. */
function holdTimers({ platform: { clock } }: World, held: number): ReadonlySet<() => void> {
  const waiting = new Set<() => void>()
  const after = clock.after.bind(clock)
  clock.after = (ms, done) => {
    if (ms !== held) return after(ms, done)
    waiting.add(done)
    return () => void waiting.delete(done)
  }
  return waiting
}

test('closes a tunnel after an hour without use', async ({ world }) => {
  const idle = holdTimers(world, 3_600_000)
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under, { access: 'jupyter' })
  const { url = '' } = await under.run('openPort', { instance: id, port: 8080 })
  expect(idle.size).toBe(1)
  const user = connect(Number(new URL(url).port), '127.0.0.1')
  await expect.poll(() => idle.size).toBe(0)
  user.destroy()
  await expect.poll(() => idle.size).toBe(1)
  for (const end of idle) end()
  await under.until(() => Object.keys(under.account().tunnels).length === 0)
  await expect(askByName(url)).rejects.toThrow()

  await expectNewName(under, id, url)
})

/** A tab that is still open shows a closed tunnel's name to anyone who has its port meanwhile, so it lets nobody in again. */
async function expectNewName(under: BerthUnderTest, instance: number, before: string) {
  const { url = '' } = await under.run('openPort', { instance, port: 8080 })
  const { hostname, port } = new URL(url)
  expect(hostname).not.toBe(new URL(before).hostname)
  const host = `${new URL(before).hostname}:${port}`
  expect((await askByName(url, { headers: { host } })).status).toBe(403)
  return url
}

test('connections to a tunnel’s port alone get nothing and change no address', async ({ world }) => {
  // Whatever Berth gives ten seconds to, they pass while the browser is kept out.
  const waits = holdTimers(world, 10_000)
  const opened: string[] = []
  world.platform.opener.openPrivately = async url => void opened.push(url)
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under, { access: 'jupyter' })
  const { url = '' } = await under.run('openPort', { instance: id, port: 8080 })
  const { port } = new URL(url)
  const held = Array.from({ length: 520 }, () => connect(Number(port), '127.0.0.1'))
  for (const one of held) one.on('error', () => undefined)
  await Promise.all(held.map(one => once(one, 'connect')))
  await expect(askByName(url)).rejects.toThrow()
  for (const end of waits) end()
  for (const one of held) one.destroy()

  const byAddress = () =>
    askByName(`http://127.0.0.1:${port}/`).then(
      ({ status, text }) => ({ status, text }),
      () => undefined,
    )
  await expect.poll(byAddress).toEqual({ status: 403, text: expect.stringContaining('from Berth') })
  expect((await under.run('openPort', { instance: id, port: 8080 })).url).toBe(url)
  await under.run('closeTunnel', { instance: id, port: 8080 })
  expect(opened).toEqual([url, url, await expectNewName(under, id, url)])
})

test('pages open at 127.0.0.1 where the user chose so, with a secret that is new each time and not in State', async ({
  world,
}) => {
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under, { access: 'jupyter' })
  const open = async () => (await under.run('openPort', { instance: id, port: 8080 })).url ?? ''
  const named = await open()
  await under.run('changeSettings', { settings: { tunnelsAtLoopback: true } })
  const url = await open()
  const [, secret = ''] =
    new RegExp(`^http://127\\.0\\.0\\.1:${new URL(named).port}/([0-9a-f]{64})/$`).exec(url) ?? []
  expect(secret).not.toBe('')
  expect((await under.run('openJupyter', { instance: id })).url).toContain(`/${secret}/`)
  const tunnel = () => under.account().tunnels[tunnelKey(id, 8080)]
  expect(tunnel()).not.toHaveProperty('reached')
  const { headers } = await askByName(url)
  const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  expect((await askByName(`http://127.0.0.1:${new URL(url).port}/api`, { headers: { cookie } })).status).toBe(
    200,
  )
  expect(tunnel()).toMatchObject({ host: new URL(named).hostname, reached: true })
  expect(JSON.stringify(under.berth.state())).not.toContain(secret)

  await under.run('closeTunnel', { instance: id, port: 8080 })
  expect(new URL(await open()).pathname).not.toBe(new URL(url).pathname)
  await under.run('changeSettings', { settings: { tunnelsAtLoopback: false } })
  expect(new URL(await open()).hostname).toMatch(/\.localhost$/)
})

test('destroying an instance closes its tunnels', async ({ world }) => {
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under, { access: 'jupyter' })
  const { url = '' } = await under.run('openPort', { instance: id, port: 8080 })
  expect((await askByName(url)).status).toBe(403)
  await under.run('destroyInstance', { instance: id })
  await under.until(() => Object.keys(under.account().tunnels).length === 0)
  await expect
    .poll(() =>
      askByName(url).then(
        () => 'open',
        () => 'closed',
      ),
    )
    .toBe('closed')
})

const portal =
  'localhost:1111:11111:/:Instance Portal|localhost:8188:18188:/:ComfyUI|localhost:9000:9000:/:Loader'

test('a page that the image names opens by its name, without its login where the program itself listens', async ({
  world,
}) => {
  const under = await world.startConnected()
  const { id } = await rentBooted(world, under, {
    env: [{ name: 'PORTAL_CONFIG', value: portal, secret: false }],
  })
  expect(under.account().instances[id]?.apps?.map(({ name }) => name)).toEqual([
    'Instance Portal',
    'ComfyUI',
    'Loader',
  ])
  const { url = '' } = await under.run('openApp', { instance: id, app: 'comfyui' })
  expect(url).not.toContain('token')
  expect(await askByName(url)).toMatchObject({ status: 200, text: expect.stringContaining('ComfyUI') })
  expect(under.account().tunnels[tunnelKey(id, 18_188)]).toMatchObject({
    kind: 'app',
    name: 'ComfyUI',
    step: 'open',
  })
  expect((await under.run('openApp', { instance: id, app: 'ComfyUI' })).url).toBe(url)
  expect(await codeOf(under.run('openApp', { instance: id, app: 'Blender' }))).toBe('no_such_app')

  const found = await under.run('findPorts', { instance: id })
  expect(found).toContainEqual({ port: 8188, name: 'ComfyUI', answers: true, app: 'ComfyUI' })
  expect(found.map(({ port }) => port)).not.toContain(18_188)
})

test('behind its login a page opens with the instance’s own token, which is noted nowhere', async ({
  world,
}) => {
  const under = await world.startConnected()
  const twice = 'localhost:8188:18188:/:ComfyUI|localhost:8188:8188:/:Front'
  const { id } = await rentBooted(world, under, {
    env: [{ name: 'PORTAL_CONFIG', value: twice, secret: false }],
  })
  const login = await under.run('appLogin', { instance: id })
  expect(login).toEqual({ user: 'vastai', password: expect.stringMatching(/^\w{20,}$/) })
  const password = login?.password ?? ''
  const { url = '' } = await under.run('openPort', { instance: id, port: 8188 })
  expect((await askByName(url)).status).toBe(401)
  await under.run('closeTunnel', { instance: id, port: 8188 })
  const front = await under.run('openApp', { instance: id, app: 'Front' })
  expect(new URL(front.url ?? '').searchParams.get('token')).toBe(password)
  expect((await askByName(front.url ?? '')).status).toBe(302)
  const kept = JSON.stringify([under.berth.state(), await under.run('findPorts', { instance: id })])
  expect(kept).not.toContain(password)
  for (const { method, path } of world.sim.controls.requests())
    expect(`${method} ${path}`).not.toContain(password)
})
