import { describe, vi } from 'vitest'
import type { Limit } from '#shared/automation/limit.ts'
import { creates, instancesOf, limitsOf, rentalsOf, rentCheapest, rentRunning } from '#test/berth/steps.ts'
import { test as base, type World } from '#test/berth/world.ts'
import { ended, rentalOf, retriesRequest } from './renting/request.ts'

// The tests mostly wait, for machines to boot and for what might still appear.
vi.setConfig({ maxConcurrency: 8, testTimeout: 90_000 })

const agreed: Limit[] = [{ when: { kind: 'duration', seconds: 8 * 3600 }, action: 'stop', asleep: false }]
const limited = [{ when: { kind: 'duration', seconds: 8 * 3600 }, step: 'waiting' }]

/** Worlds of a public deployment that answers renting in that way. */
const test = base.extend('openPublic', ({ openWorld }) => async (profile: Record<string, unknown>) => {
  const world = await openWorld({ limits: false })
  world.sim.controls.setDeployment({ deployment: 'public', ...profile })
  return { world, under: await world.startConnected() }
})

const idsOf = (world: World) => world.sim.controls.instances().map(({ id }) => id)

describe.concurrent('an instance that the service rents without starting it', () => {
  test.for(['full', 'unmarked'])(
    'is adopted with its limits, and waits: records %s',
    async (records, { openPublic, expect }) => {
      const { world, under } = await openPublic({ rent: 'queued', records })
      await rentCheapest(under, { limits: agreed })
      await under.until(() => instancesOf(under)[0]?.state === 'waiting')
      const [instance] = instancesOf(under)
      expect(rentalsOf(under)).toMatchObject([
        { step: 'waiting', instance: instance?.id, problem: { code: 'no_gpu' } },
      ])
      expect(limitsOf(under, instance?.id ?? 0)).toMatchObject(limited)
      await expect.poll(() => world.titles().join('\n')).toContain('is waiting for a GPU')

      world.sim.controls.setDeployment({ rent: 'boots' })
      await under.until(() => instancesOf(under)[0]?.state === 'running')
      await under.until(() => rentalsOf(under).length === 0)
      expect(idsOf(world)).toEqual([instance?.id])
      expect(creates(world)).toBe(1)
    },
  )

  test('stays with its rental where it was created stopped', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'stopped' })
    await rentCheapest(under, { limits: agreed })
    await under.until(() => instancesOf(under)[0]?.state === 'stopped')
    await under.run('refresh', {})
    const [instance] = instancesOf(under)
    expect(rentalsOf(under)).toMatchObject([
      { step: 'waiting', instance: instance?.id, problem: { code: 'no_gpu' } },
    ])
    expect(limitsOf(under, instance?.id ?? 0)).toMatchObject(limited)
    await expect.poll(() => world.titles().join('\n')).toContain('not started')
    await under.run('startInstance', { instance: instance?.id ?? 0 })
    await under.until(() => instancesOf(under)[0]?.state === 'running')
    await under.until(() => rentalsOf(under).length === 0)
    expect(creates(world)).toBe(1)
  })

  test('is the only one that retries rent, and is ready once it runs', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'queued' })
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 4 }, { limits: agreed }))
    await under.until(() => instancesOf(under)[0]?.state === 'waiting')
    await world.sim.controls.advance(600)
    await under.run('refresh', {})
    expect(rentalOf(under, id)?.attempts).toHaveLength(1)
    expect(limitsOf(under, instancesOf(under)[0]?.id ?? 0)).toMatchObject(limited)
    world.sim.controls.setDeployment({ rent: 'boots' })
    await under.until(() => rentalOf(under, id) === undefined)
    expect(instancesOf(under)).toMatchObject([{ state: 'running' }])
    expect(creates(world)).toBe(1)
  })

  test.for(['queued', 'stopped'])(
    'is given up by retries in time, without blame: %s',
    async (rent, { openPublic, expect }) => {
      const { world, under } = await openPublic({ rent })
      const id = await under.run('rentWithRetries', retriesRequest({ attempts: 2, deadline: 600 }))
      for (const count of [1, 2]) {
        await under.until(() => rentalOf(under, id)?.attempts[count - 1]?.instance !== undefined)
        await under.run('refresh', {})
        await world.sim.controls.advance(700)
      }
      const rental = await ended(under, id)
      expect(rental?.attempts.map(({ why }) => why?.code)).toEqual(['no_gpu', 'no_gpu'])
      expect(under.account().failedMachines).toEqual({})
      expect(idsOf(world)).toEqual([])
    },
  )

  test('is the only one that a watch rents', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'queued' })
    const { search, request, limits } = retriesRequest({}, { limits: agreed })
    await under.run('saveWatch', {
      request: { name: 'Any', search, every: 1, rents: { request, limits, most: 1 } },
    })
    await under.until(() => instancesOf(under)[0]?.state === 'waiting')
    expect(limitsOf(under, instancesOf(under)[0]?.id ?? 0)).toMatchObject(limited)
    world.sim.controls.setDeployment({ rent: 'boots' })
    await under.until(() => instancesOf(under)[0]?.state === 'running')
    expect(creates(world)).toBe(1)
  })

  test('is the only one that replaces an outbid one', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({})
    const { id: instance } = await rentRunning(under, { bid: 0.4 })
    world.sim.controls.setDeployment({ rent: 'queued' })
    const limits = { attempts: 3, ceiling: 1, deadline: 3600 }
    await under.run('chooseRecovery', {
      instance,
      choice: { kind: 'replace', ceiling: 2, every: 60, limits },
    })
    await world.sim.controls.outbid(instance)
    await under.until(() => instancesOf(under).some(({ state }) => state === 'waiting'))
    world.sim.controls.setDeployment({ rent: 'boots' })
    await under.until(() => under.account().recoveries[instance]?.by !== undefined)
    expect(creates(world)).toBe(2)
    expect(idsOf(world)).toHaveLength(2)
  })
})

describe.concurrent('a refusal of a rental with status 200', () => {
  test.for(['full', 'unmarked'])(
    'is not believed before the account was searched: records %s',
    async (records, { openPublic, expect }) => {
      const { world, under } = await openPublic({ rent: 'unsaid', records })
      await rentCheapest(under, { limits: agreed })
      await under.until(() => instancesOf(under)[0]?.state === 'running')
      await under.until(() => rentalsOf(under).length === 0)
      expect(limitsOf(under, instancesOf(under)[0]?.id ?? 0)).toMatchObject(limited)
      expect(creates(world)).toBe(1)
    },
  )

  test('is reported once nothing new is on the account', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'refused' })
    await rentCheapest(under)
    await under.until(() => rentalsOf(under)[0]?.step === 'lost')
    await under.until(() => rentalsOf(under)[0]?.step === 'failed')
    expect(rentalsOf(under)[0]?.problem).toMatchObject({ code: 'refused' })
    expect(creates(world)).toBe(1)
  })

  test('makes retries rent no other while the first is there', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'unsaid' })
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 4 }))
    await under.until(() => rentalOf(under, id) === undefined)
    expect(instancesOf(under)).toMatchObject([{ state: 'running' }])
    expect(creates(world)).toBe(1)
  })

  test('makes retries ask the user where the records carry no mark', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'unsaid', records: 'unmarked' })
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 4 }, { limits: agreed }))
    await under.until(() => rentalOf(under, id)?.candidates?.length === 1)
    await world.sim.controls.advance(3600)
    await under.run('refresh', {})
    expect(creates(world)).toBe(1)
    await expect.poll(() => world.titles().join('\n')).toContain('needs your answer')
    const [instance = 0] = rentalOf(under, id)?.candidates ?? []
    await under.run('resolveRental', { rental: id, instance })
    await under.until(() => rentalOf(under, id) === undefined)
    expect(limitsOf(under, instance)).toMatchObject(limited)
  })

  test('continues retries once nothing new is on the account', async ({ openPublic, expect }) => {
    const { world, under } = await openPublic({ rent: 'refused' })
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 2 }))
    const rental = await ended(under, id)
    expect(rental?.attempts.map(({ why }) => why?.code)).toEqual(['refused', 'refused'])
    expect(creates(world)).toBe(2)
    expect(idsOf(world)).toEqual([])
  })
})
