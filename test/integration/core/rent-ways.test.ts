import { describe, expect } from 'vitest'
import { interfaceProfile, type Profile, publicProfile } from '#simulator/deployment.ts'
import {
  codeOf,
  everyFile,
  instancesOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
  requestCheapest,
} from '#test/berth/steps.ts'
import { test as base } from '#test/berth/world.ts'

const test = base.extend('deployed', async ({ openWorld }) => {
  return async (deployment: Profile = publicProfile) => {
    const world = await openWorld({ deployment, limits: false })
    return { world, under: await world.startConnected() }
  }
})

const image = 'private.example/llm:1'
const token = 'registry-token-value'
const registry = { server: 'private.example', user: 'ada', token }

describe.concurrent.each([
  ['the interface', interfaceProfile],
  ['the public deployment', publicProfile],
  [
    'the public deployment, which still lists as the interface does',
    { ...publicProfile, list: 'v0', v1: '404' },
  ],
] as const)('on %s', (_, profile) => {
  const beyond = profile.deployment === 'public'

  test('a machine is entered directly where its deployment maps a port for SSH', async ({ deployed }) => {
    const { world, under } = await deployed(profile)
    // Its offers show it, before anything is rented there.
    await requestCheapest(under)
    expect(under.account().capabilities.choosesDirect).toBe(beyond)
    const { id, runtype, ssh } = await rentRunning(under)
    expect(runtype).toBe(beyond ? 'ssh_direc ssh_proxy' : 'ssh')
    expect(ssh?.direct !== undefined).toBe(beyond)
    expect(ssh?.proxy).toBeDefined()
    await under.run('openPort', { instance: id, port: 8080 })
    expect(under.account().ways[id]?.direct).toBe(beyond)
    // It is known before the first poll of the next start.
    await under.close()
    world.sim.controls.setFaults([{ kind: 'hang' }])
    expect((await world.start()).account().capabilities.choosesDirect).toBe(beyond)
  })

  test('a private image starts with its registry’s login, and fails without it', async ({ deployed }) => {
    const { under } = await deployed(profile)
    await rentRunning(under, { image, registry })
    await rentCheapest(under, { image })
    await under.until(() => instancesOf(under).some(({ state }) => state === 'unstartable'))
    expect(instancesOf(under).map(({ state }) => state)).toContain('running')
  })

  test('the registry token is in the keychain until the instance exists, then deleted', async ({
    deployed,
  }) => {
    const { world, under } = await deployed(profile)
    world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'delay', ms: 2000 }])
    await rentCheapest(under, { image, registry })
    expect(JSON.stringify([...world.keychain.entries])).toContain(token)
    await under.until(() => rentalsOf(under)[0]?.instance !== undefined)
    expect(JSON.stringify([...world.keychain.entries])).not.toContain(token)
    await under.close()
    for (const [file, text] of await everyFile(world)) expect(text.includes(token), file).toBe(false)
    expect(JSON.stringify(under.berth.state())).not.toContain(token)
  })

  test('a rental whose request was cut off uses its registry token after a restart', async ({ deployed }) => {
    const { world, under } = await deployed(profile)
    world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'reset' }])
    await rentCheapest(under, { image, registry })
    await under.close()
    world.sim.controls.setFaults([])
    const again = await world.start()
    await again.until(() => instancesOf(again)[0]?.state === 'running', 90_000)
  })

  test.for([
    [true, '/lab'],
    [false, '/tree'],
  ] as const)('Jupyter opens as it was rented, JupyterLab %s', async ([lab, path], { deployed }) => {
    const { under } = await deployed(profile)
    const { id } = await rentRunning(under, { access: 'jupyter', jupyter: { lab, folder: '/workspace' } })
    const { url = '' } = await under.run('openJupyter', { instance: id, open: false })
    expect(new URL(url).pathname).toBe(path)
  })

  test('a container port is mapped, found and forwarded, whatever it is outside', async ({ deployed }) => {
    const { under } = await deployed(profile)
    const ports = [{ container: 8080, outside: 9000, protocol: 'tcp' as const }]
    const { id, ports: mapped } = await rentRunning(under, { ports })
    expect(mapped.map(({ container }) => container)).toContain('8080/tcp')
    expect(mapped.map(({ container }) => container)).not.toContain('9000/tcp')
    const found = await under.run('findPorts', { instance: id })
    expect(found.map(({ port }) => port)).toEqual([8080])
    expect((await under.run('openPort', { instance: id, port: 8080 })).url).toBeDefined()
  })
})

test.concurrent('a public deployment without the newer list is recognized by its records', async ({
  deployed,
}) => {
  const { under } = await deployed({ ...publicProfile, list: 'v0', v1: '404' })
  expect(under.account().capabilities.choosesDirect).toBe(false)
  await rentRunning(under)
  expect(under.account().capabilities.choosesDirect).toBe(true)
  const { runtype } = await rentRunning(under, { image, registry })
  expect(runtype).toBe('ssh_direc ssh_proxy')
})

test.concurrent('an instance rented without direct access has the proxy alone, Jupyter too', async ({
  deployed,
}) => {
  const { under } = await deployed()
  const { runtype, ssh } = await rentRunning(under, { direct: false })
  expect(runtype).toBe('ssh_proxy')
  expect(ssh?.direct).toBeUndefined()
  const jupyter = await rentRunning(under, { access: 'jupyter', direct: false })
  expect(jupyter.runtype).toBe('jupyter_proxy ssh_proxy')
})

test('an offer’s recommended bid is read where the service has one', async ({ deployed }) => {
  const search = { query: { type: 'bid', verifiedOnly: false, storage: 20, limit: 5 } } as const
  const { under } = await deployed()
  const [offer] = (await under.run('searchOffers', search)).offers
  const bid = await under.run('recommendedBid', { id: offer?.bundleId ?? 0 })
  expect(bid).toBeCloseTo((offer?.minimumBid ?? 0) * 1.15, -1)
  expect(await codeOf(under.run('recommendedBid', { id: 999_999 }))).toBe('not_found')
  const described = await deployed(interfaceProfile)
  expect(await codeOf(described.under.run('recommendedBid', { id: 1 }))).toBe('not_supported')
})
