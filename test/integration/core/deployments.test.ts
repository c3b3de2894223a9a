import { describe, expect } from 'vitest'
import { interfaceProfile, type Profile, publicProfile } from '#simulator/deployment.ts'
import {
  creates,
  everCreated,
  instancesOf,
  rentalsOf,
  rentRunning,
  rentSeveral,
  requestCheapest,
  setLimit,
} from '#test/berth/steps.ts'
import { type BerthUnderTest, test as base } from '#test/berth/world.ts'

/** Berth deployed to such a deployment, without its rate limits unless `limits` is set. */
const test = base.extend('deployed', async ({ openWorld }) => {
  return async (profile: Partial<Profile>, limits = false) => {
    const world = await openWorld({ deployment: { ...publicProfile, ...profile }, limits })
    const under = await world.startConnected()
    const lists = () =>
      world.sim.controls.requests().flatMap(({ method, path }) => {
        const [, version] = (method === 'GET' && /^\/api\/(v\d)\/instances\/(?:\?|$)/.exec(path)) || []
        return version ?? []
      })
    const become = (values: Record<string, unknown>) => world.sim.controls.setDeployment(values)
    return { world, under, lists, become }
  }
})

const idsOf = (under: BerthUnderTest) => instancesOf(under).map(({ id }) => id)

/** The ids of so many instances rented now, in order. */
async function rentedIds(under: BerthUnderTest, count: number): Promise<number[]> {
  const instances = await rentSeveral(under, ...Array.from({ length: count }, () => ({})))
  return instances.map(({ id }) => id)
}

describe.concurrent.each([
  ['the interface', interfaceProfile],
  ['the public deployment', publicProfile],
  ['the public deployment, which lists two on a page', { ...publicProfile, page: 2 }],
])('on %s', (_, profile) => {
  test('a machine is rented, runs, is stopped and destroyed', async ({ deployed }) => {
    const { under } = await deployed(profile)
    const { id } = await rentRunning(under)
    await under.run('stopInstance', { instance: id })
    await under.until(() => under.account().instances[id]?.state === 'stopped')
    await under.run('destroyInstance', { instance: id })
    await under.until(() => idsOf(under).length === 0)
    expect(under.account().uncertain).toBeUndefined()
    expect(under.texts().filter(text => /not certain/.test(text))).toEqual([])
  })

  test('an instance destroyed elsewhere is gone after one poll that reads one list', async ({ deployed }) => {
    const { world, under, lists } = await deployed(profile)
    const { id } = await rentRunning(under)
    await under.run('changeSettings', { settings: { pollInterval: 300 } })
    await under.run('refresh', {})
    await world.api('DELETE', `/api/v0/instances/${id}/`)
    const before = lists().length
    await under.run('refresh', {})
    expect(idsOf(under)).toEqual([])
    expect(lists()).toHaveLength(before + 1)
  })
})

test.concurrent('which list an account has is tried once and remembered over a restart', async ({
  deployed,
}) => {
  const { world, under, lists } = await deployed(interfaceProfile)
  await under.run('refresh', {})
  expect(lists().filter(version => version === 'v1')).toHaveLength(1)
  await world.restart(under)
  expect(lists().filter(version => version === 'v1')).toHaveLength(1)
})

describe.concurrent('a deployment that changes', () => {
  test.for<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['retires its list', { deployment: 'interface' }, { deployment: 'public' }],
    ['says so with 200', { list: 'v0', v1: '404' }, { list: 'v0-200-deprecated', v1: 'pages' }],
    ['refuses its list', { list: 'v0', v1: '404' }, { list: 'v0-success-false', v1: 'pages' }],
    ['empties its list', { list: 'v0', v1: '404' }, { list: 'v0-empty', v1: 'pages' }],
    ['cuts its list short', { list: 'v0', v1: '404' }, { list: 'v0-paged', v1: 'pages', page: 2 }],
    ['goes back', { deployment: 'public' }, { deployment: 'interface' }],
  ])('and %s loses no instance', async ([, before, after], { deployed }) => {
    const { under, become } = await deployed(interfaceProfile)
    become({ deployment: 'public' })
    become(before)
    const ids = await rentedIds(under, 3)
    expect(idsOf(under)).toEqual(ids)
    become(after)
    await under.poll(2)
    expect(idsOf(under)).toEqual(ids)
    expect(under.account().connection.status).toBe('online')
    expect(under.account().uncertain).toBeUndefined()
    expect(under.texts().filter(text => /destroyed|gone|not certain/.test(text))).toEqual([])
  })
})

describe.concurrent('an uncertain list', () => {
  const empty = { list: 'v0-empty', v1: '404', single: 'null' } as const

  test('is reported, loses no instance, and is over once the list is complete', async ({ deployed }) => {
    const { under, become } = await deployed(publicProfile)
    const [id, other] = await rentedIds(under, 2)
    become(empty)
    await under.poll(2)
    expect(idsOf(under)).toEqual([id, other])
    expect(under.account().uncertain?.reason).toContain('may still exist')
    expect(under.account().uncertain?.instances).toHaveLength(1)
    expect(under.texts().filter(text => /instance list is incomplete/.test(text))).toHaveLength(1)
    become({ deployment: 'public' })
    await under.run('refresh', {})
    expect(under.account().uncertain).toBeUndefined()
    expect(under.texts().filter(text => /is complete again/.test(text))).toHaveLength(1)
  })

  test('lets a limit act only on an instance that the service confirms on its own', async ({ deployed }) => {
    const { world, under, become } = await deployed(publicProfile)
    const [id = 0, other = 0] = await rentedIds(under, 2)
    become(empty)
    await under.run('refresh', {})
    const at = under.account().clock.serverAt / 1000 + 3600
    await setLimit(under, { instance: id, when: { kind: 'time', at } })
    await world.sim.controls.advance(7200)
    await under.until(() => under.account().instances[id]?.state === 'stopped')
    expect(under.account().instances[other]?.state).toBe('running')
  })

  test.for<[string, number, Partial<Profile>]>([
    ['goes on for ever', 1, { v1: 'repeats' }],
    ['is cut short without a word', 3, { list: 'v0-paged', v1: '404', page: 2 }],
  ])(
    'that %s holds back a second try to rent until it is complete',
    async ([, there, deployment], { deployed }) => {
      const { world, under, become } = await deployed({})
      await rentedIds(under, there)
      become(deployment)
      const request = await requestCheapest(under)
      const before = creates(world)
      world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'reset', times: 1 }])
      await under.run('rent', { request })
      await under.until(() => rentalsOf(under)[0]?.problem?.code === 'list_uncertain')
      expect(creates(world)).toBe(before + 1)
      become({ deployment: 'public' })
      await under.until(() => rentalsOf(under).length === 0)
      expect(everCreated(world)).toBe(there + 1)
    },
  )
})

describe.concurrent('records of an unexpected form', () => {
  test.for(['null', 'missing', 'text'] as const)(
    '%s: an instance is still rented and destroyed',
    async (records, { deployed }) => {
      const { under } = await deployed({ records })
      const { id } = await rentRunning(under)
      expect(under.account().uncertain).toBeUndefined()
      await under.run('destroyInstance', { instance: id })
      await under.until(() => idsOf(under).length === 0)
    },
  )

  test.for(['null-row', 'bad-row'] as const)(
    '%s: one bad record hides none of the others',
    async (records, { deployed }) => {
      const { under, become } = await deployed({})
      const [id, other] = await rentedIds(under, 2)
      become({ records })
      await under.run('refresh', {})
      expect(idsOf(under)).toEqual([id, other])
      expect(under.account().connection.status).toBe('online')
    },
  )
})

test.concurrent('an instance that is listed only after half a minute is waited for', async ({ deployed }) => {
  const { under } = await deployed({ appears: 30 })
  await rentRunning(under)
  expect(under.account().uncertain).toBeUndefined()
})

test.concurrent.for(['400', '401', '403', '404'] as const)(
  'a wrong key that is refused with %s is reported as a wrong key',
  async (badkey, { openWorld }) => {
    const world = await openWorld({ deployment: { ...publicProfile, badkey }, limits: false })
    const under = await world.start()
    const wrong = under.run('connectAccount', { baseUrl: world.sim.baseUrl, key: 'nobodys-key' })
    await expect(wrong).rejects.toMatchObject({
      problem: { code: expect.stringMatching(/auth_error|unauthorized/) },
    })
  },
)
