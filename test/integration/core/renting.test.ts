import { describe, expect, vi } from 'vitest'
import type { FaultInput } from '#simulator/http/faults.ts'
import {
  codeOf,
  creates,
  everCreated,
  instancesOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
  requestCheapest,
} from '#test/berth/steps.ts'
import { type Connected, test } from '#test/berth/world.ts'
import { profileNames, profiles } from '../profiles.ts'

// The tests mostly wait, for machines to boot and answers that do not come.
vi.setConfig({ maxConcurrency: 12 })

const onCreate = (rule: Omit<FaultInput, 'method' | 'path'>): FaultInput => ({
  method: 'PUT',
  path: '^/api/v0/asks/',
  times: 1,
  ...rule,
})

const one = { end: 'running', instances: 1, ever: 1 }
const none = { end: 'failed', instances: 0, ever: 0 }

describe.concurrent.each(profileNames)('on the %s profile', name => {
  const deployment = { deployment: profiles[name], limits: false }

  /** The outcome of a rental whose creation meets a fault, and alerts if it fails: its last step, and the instances. */
  async function outcome({ world, under }: Connected, rule: FaultInput): Promise<typeof one> {
    const request = await requestCheapest(under)
    world.sim.controls.setFaults([rule])
    const rental = await under.run('rent', { request })
    const step = () => rentalsOf(under).find(({ id }) => id === rental)?.step
    await under.until(() => step() === undefined || step() === 'failed', 80_000)
    const end = step() ?? 'running'
    if (end === 'running') expect(instancesOf(under).map(({ state }) => state)).toEqual(['running'])
    await under.poll()
    if (end === 'failed') await vi.waitFor(() => expect(world.titles()).toContain('Renting failed'), 150_000)
    return { end, instances: instancesOf(under).length, ever: everCreated(world) }
  }

  describe.concurrent('nothing is rented twice, however the creation fails', () => {
    test.for<[string, Omit<FaultInput, 'method' | 'path'>, typeof one]>([
      ['reset', { kind: 'reset' }, one],
      ['reset_after', { kind: 'reset_after' }, one],
      ['hang', { kind: 'hang' }, one],
      ['hang_after', { kind: 'hang_after' }, one],
      ['garbage', { kind: 'garbage' }, one],
      ['wrong_types', { kind: 'wrong_types' }, one],
      ['delay', { kind: 'delay', ms: 3000 }, one],
      ['status 500 once', { kind: 'status', status: 500 }, one],
      ['status 503 for ever', { kind: 'status', status: 503, times: 1000 }, none],
      ['status 429', { kind: 'status', status: 429 }, one],
      ['status 400', { kind: 'status', status: 400, error: 'invalid_args' }, none],
      ['status 200 that says no', { kind: 'status', status: 200 }, none],
      ['reset_after for ever', { kind: 'reset_after', times: 1000 }, one],
    ])('%s', async ([, rule, expected], { connected }) => {
      expect(await outcome(await connected(deployment), onCreate(rule))).toEqual(expected)
    })
  })

  test.concurrent.for([404, 410, 400])(
    'a taken offer is reported as gone, with the service’s words: %i',
    async (status, { connected, expect }) => {
      const { world, under } = await connected(deployment)
      const request = await requestCheapest(under)
      world.sim.controls.setFaults([onCreate({ kind: 'status', status, error: 'no_such_ask' })])
      await under.run('rent', { request })
      await under.until(() => rentalsOf(under)[0]?.step === 'failed')
      expect(rentalsOf(under)[0]?.problem).toMatchObject({
        code: 'offer_gone',
        message: 'This offer is gone: someone else rented it first.',
        advice: 'Nothing was rented. Pick a similar offer.',
        facts: { 'The service says': expect.stringContaining('no_such_ask') },
      })
      expect(instancesOf(under)).toEqual([])
    },
  )

  describe.concurrent('a cancelled rental leaves no instance', () => {
    test('while its request is under way', async ({ connected, expect }) => {
      const { world, under } = await connected(deployment)
      const request = await requestCheapest(under)
      world.sim.controls.setFaults([onCreate({ kind: 'delay', ms: 1000 })])
      const rental = await under.run('rent', { request })
      await expect.poll(() => creates(world)).toBe(1)
      await under.run('cancelRental', { rental })
      await under.until(() => rentalsOf(under).length === 0)
      await under.until(() => instancesOf(under).length === 0)
      expect(everCreated(world)).toBe(1)
      expect(creates(world)).toBe(1)
    })

    test('while its answer is lost', async ({ connected }) => {
      const { world, under } = await connected(deployment)
      const request = await requestCheapest(under)
      world.sim.controls.setFaults([onCreate({ kind: 'reset_after' })])
      const rental = await under.run('rent', { request })
      await under.until(() => rentalsOf(under)[0]?.step === 'lost')
      await under.run('cancelRental', { rental })
      await under.until(() => rentalsOf(under).length === 0)
      await under.until(() => instancesOf(under).length === 0)
      expect(everCreated(world)).toBe(1)
    })

    test('while it waits, although destroying fails at first', async ({ connected, expect }) => {
      const { world, under } = await connected(deployment)
      const rental = await rentCheapest(under)
      await under.until(() => rentalsOf(under)[0]?.step === 'waiting')
      world.sim.controls.setFaults([{ method: 'DELETE', kind: 'status', status: 500, times: 5 }])
      await under.run('cancelRental', { rental })
      await under.run('cancelRental', { rental })
      await under.until(() => rentalsOf(under).length === 0)
      await under.until(() => instancesOf(under).length === 0)
      const said = () => under.run('searchActivity', { text: 'Rental cancelled', limit: 10 })
      await expect.poll(said).toHaveLength(1)
    })

    test('while it is late', async ({ connected }) => {
      const { world, under } = await connected(deployment)
      await under.run('changeSettings', { settings: { rentalDeadline: 60 } })
      const request = await requestCheapest(under)
      const rental = await under.run('rent', { request })
      await under.until(() => rentalsOf(under)[0]?.instance !== undefined)
      await world.sim.controls.forceStatus(rentalsOf(under)[0]?.instance ?? 0, 'loading')
      await under.until(() => rentalsOf(under)[0]?.step === 'late')
      await under.run('cancelRental', { rental })
      await under.until(() => rentalsOf(under).length === 0 && instancesOf(under).length === 0)
    })

    test('but is refused as too late once the instance runs', async ({ connected }) => {
      const { under } = await connected(deployment)
      const rental = await rentCheapest(under)
      await under.until(() => instancesOf(under)[0]?.state === 'running' && rentalsOf(under).length === 0)
      expect(await codeOf(under.run('cancelRental', { rental }))).toBe('too_late')
      expect(instancesOf(under)).toHaveLength(1)
    })
  })

  test.concurrent('reports a late rental, and waits as long again on request', async ({ connected }) => {
    const { world, under } = await connected(deployment)
    await under.run('changeSettings', { settings: { rentalDeadline: 60 } })
    const rental = await rentCheapest(under)
    await under.until(() => rentalsOf(under)[0]?.instance !== undefined)
    const id = rentalsOf(under)[0]?.instance ?? 0
    await world.sim.controls.forceStatus(id, 'loading')
    await under.until(() => rentalsOf(under)[0]?.step === 'late')
    expect(rentalsOf(under)[0]?.problem).toMatchObject({
      code: 'late',
      advice: expect.stringContaining('Wait'),
    })
    // It may be late again before the command is answered.
    const waits = under.until(() => {
      const [late] = rentalsOf(under)
      return late?.step === 'waiting' && late.problem === undefined
    })
    await under.run('waitLonger', { rental })
    await waits
    await under.until(() => rentalsOf(under)[0]?.step === 'late')
    await world.sim.controls.forceStatus(id, 'running')
    await under.until(() => rentalsOf(under).length === 0)
  })

  test.concurrent('a rental that replaces an instance destroys it first, even if it is already gone', async ({
    connected,
  }) => {
    const { world, under } = await connected(deployment)
    const first = await rentRunning(under)
    await under.run('rent', { request: await requestCheapest(under), replaces: first.id })
    await under.until(() => rentalsOf(under).length === 0 && instancesOf(under)[0]?.state === 'running')
    const requests = world.sim.controls.requests()
    const order = requests.filter(({ method, path }) => method === 'DELETE' || path.includes('/asks/'))
    expect(order.map(({ method }) => method)).toEqual(['PUT', 'DELETE', 'PUT'])
    const second = instancesOf(under)[0]
    expect(second?.id).not.toBe(first.id)

    world.sim.controls.setFaults([
      { method: 'DELETE', kind: 'status', status: 404, error: 'no_such_instance', times: 1 },
    ])
    await under.run('rent', { request: await requestCheapest(under), replaces: second?.id })
    await under.until(() => rentalsOf(under).length === 0)
  })

  test.concurrent('nothing is rented when the replaced instance cannot be destroyed', async ({
    connected,
  }) => {
    const { world, under } = await connected(deployment)
    const first = await rentRunning(under)
    const request = await requestCheapest(under)
    world.sim.controls.setFaults([{ method: 'DELETE', kind: 'status', status: 403, times: 1 }])
    await expect(under.run('rent', { request, replaces: first.id })).rejects.toThrow()
    expect(creates(world)).toBe(1)
  })

  test.concurrent('an instance destroyed during a poll does not come back', async ({ connected }) => {
    const { world, under } = await connected(deployment)
    const { id } = await rentRunning(under)
    world.sim.controls.setFaults([{ method: 'GET', path: '/instances/$', kind: 'delay', ms: 500, times: 1 }])
    const poll = under.run('refresh', {})
    await under.run('destroyInstance', { instance: id })
    await poll
    expect(instancesOf(under)).toEqual([])
  })

  test.concurrent('a rental with a lost answer and a rejected key continues with the next key', async ({
    connected,
  }) => {
    const { world, under } = await connected(deployment)
    const request = await requestCheapest(under)
    world.sim.controls.setFaults([
      onCreate({ kind: 'reset_after' }),
      { path: '^/api/', kind: 'status', status: 401 },
    ])
    await under.run('rent', { request })
    await under.until(() => under.account().connection.status === 'refused')
    await under.until(() => rentalsOf(under)[0]?.problem?.code === 'unauthorized')
    world.sim.controls.setFaults([])
    await under.run('replaceKey', { account: under.account().id, key: world.sim.apiKey })
    await under.until(() => rentalsOf(under).length === 0 && instancesOf(under)[0]?.state === 'running')
    expect(everCreated(world)).toBe(1)
  })

  test('a rental by the user is recorded in Activity as theirs', async ({ connected }) => {
    const { under } = await connected(deployment)
    await rentRunning(under)
    const told = Object.values(under.berth.state().activity).map(
      ({ kind, text }) => `${kind} ${text.split(':')[0]}`,
    )
    expect(told).toContain('user Renting')
  })
})
