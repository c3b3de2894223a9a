import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { RentalStep } from '#shared/market/rental-view.ts'
import type { FaultInput } from '#simulator/http/faults.ts'
import { everCreated, instancesOf, rentalsOf, rentRunning } from '#test/berth/steps.ts'
import type { BerthUnderTest, World } from '#test/berth/world.ts'
import { startDetour } from '#test/e2e/detour.ts'
import { startSshd } from '#test/integration/ssh/sshd.ts'
import { ownPublicKey } from '#test/own-public-key.ts'
import { instanceView } from '#test/unit/views.ts'
import { ended, onAccount, rentalOf, retriesRequest, test } from './request.ts'

/** The instance of an attempt, once it is created. */
async function tried(under: BerthUnderTest, id: string, number: number): Promise<number> {
  await under.until(() => (rentalOf(under, id)?.attempts.length ?? 0) >= number)
  await under.until(() => rentalOf(under, id)?.attempts[number - 1]?.instance !== undefined)
  const instance = rentalOf(under, id)?.attempts[number - 1]?.instance
  if (instance === undefined) throw new Error('the attempt has no instance')
  return instance
}

/** Lets most of the 330 seconds pass that an attempt has, once its instance runs. */
async function passAlmost({ sim }: World, under: BerthUnderTest, id: string): Promise<void> {
  await under.until(() => rentalOf(under, id)?.step === 'entering')
  await sim.controls.advance(200)
}

describe.concurrent('renting with retries', () => {
  test('drops and remembers a crashed and an offline host, and ends with one ready instance', async ({
    connected,
    expect,
  }) => {
    const { world, under } = await connected()
    const id = await under.run('rentWithRetries', retriesRequest())
    await world.sim.controls.forceStatus(await tried(under, id, 1), 'exited')
    await world.sim.controls.forceStatus(await tried(under, id, 2), 'offline')
    await tried(under, id, 3)
    await world.sim.controls.advance(300)
    await under.until(() => rentalOf(under, id)?.step === 'ready')
    const view = rentalOf(under, id)
    expect(view?.attempts.map(({ why }) => why?.code)).toEqual(['crashed', 'offline', undefined])
    expect(new Set(view?.attempts.map(({ machineId }) => machineId)).size).toBe(3)
    expect(view?.attempts.slice(0, 2).every(({ cost }) => cost !== undefined)).toBe(true)
    expect(await onAccount(world)).toEqual([
      expect.objectContaining({ id: view?.instance, actual_status: 'running' }),
    ])
    expect(everCreated(world)).toBe(3)
    expect(rentalsOf(under)).toEqual([view])

    const failed = Object.keys(under.account().failedMachines).map(Number)
    expect(failed.sort()).toEqual(
      view?.attempts
        .slice(0, 2)
        .map(({ machineId }) => machineId)
        .sort(),
    )
    await expect.poll(() => world.titles()).toEqual([expect.stringMatching(/is ready$/)])
    const said = async () => {
      const entries = await under.run('searchActivity', { text: 'attempt', limit: 50 })
      return entries.map(entry => entry.text).join('\n')
    }
    for (const text of [
      'Attempt 1 of 5',
      'Dropped attempt 1 of 5',
      'Attempt 2 of 5',
      'Dropped attempt 2 of 5',
      'is ready',
    ])
      await expect.poll(said).toContain(text)

    // Failed machines are tried last until they are forgiven.
    const next = await under.run('rentWithRetries', retriesRequest({ attempts: 1 }))
    await tried(under, next, 1)
    expect(failed).not.toContain(rentalOf(under, next)?.attempts[0]?.machineId)
    await under.run('cancelRental', { rental: next })
    for (const machine of failed) await under.run('forgiveMachine', { machine })
    expect(under.account().failedMachines).toEqual({})
  })

  test('remembers a host that dies soon after a plain rental, but not a stopped one', async ({
    connected,
  }) => {
    const { world, under } = await connected()
    const limits = await rentRunning(under)
    await under.run('stopInstance', { instance: limits.id })
    await under.until(() => under.account().instances[limits.id]?.state === 'stopped')
    const dies = await rentRunning(under)
    await world.sim.controls.forceStatus(dies.id, 'offline')
    await under.until(() => Object.keys(under.account().failedMachines).length > 0)
    const machine = under.account().instances[dies.id]?.machineId ?? 0
    expect(under.account().failedMachines).toMatchObject({
      [machine]: { times: 1, why: expect.stringContaining('offline') },
    })
    expect(Object.keys(under.account().failedMachines)).toEqual([String(machine)])
    await under.run('forgiveMachine', { machine })
    await under.run('refresh', {})
    expect(under.account().failedMachines).toEqual({})
  })

  test('drops a machine that runs without SSH, but with Jupyter running is enough', async ({ openShut }) => {
    const { world, under } = await openShut()
    const shut = await under.run('rentWithRetries', retriesRequest({ attempts: 1, deadline: 330 }))
    // Else both may choose the same offer, which only one gets.
    await tried(under, shut, 1)
    const open = await under.run('rentWithRetries', retriesRequest({}, { access: 'jupyter' }))
    await passAlmost(world, under, shut)
    expect(await ended(under, shut)).toMatchObject({
      step: 'failed',
      attempts: [{ why: { code: 'no_ssh' } }],
    })
    await ended(under, open)
    expect((await onAccount(world)).map(({ actual_status }) => actual_status)).toEqual(['running'])
    expect(Object.values(under.account().failedMachines)).toHaveLength(1)
  })

  test.for(['never', 'late'])(
    'waits for a login, not a greeting: the key works %s',
    async (when, { openWorld, expect, onTestFinished }) => {
      const world = await openWorld({ speed: 1 })
      const sshd = await startSshd()
      onTestFinished(sshd.close)
      const detour = await startDetour(world.sim.baseUrl, sshd.port)
      onTestFinished(() => detour.close())
      const under = await world.startConnected(detour.baseUrl)
      const id = await under.run('rentWithRetries', retriesRequest({ attempts: 1, deadline: 330 }))
      await tried(under, id, 1)
      await world.sim.controls.advance(300)
      const publicKey = await ownPublicKey(join(world.platform.home, 'berth'))
      await expect.poll(sshd.log).toMatch(/Failed publickey|Connection closed by authenticating user/)
      expect(rentalOf(under, id)?.step).toBe('entering')
      if (when === 'late') sshd.authorize(publicKey)
      else await world.sim.controls.advance(400)
      const rental = await ended(under, id)
      if (when === 'never') expect(rental?.attempts).toMatchObject([{ why: { code: 'no_ssh' } }])
      expect(await onAccount(world)).toMatchObject(when === 'late' ? [{ actual_status: 'running' }] : [])
    },
  )

  test('is polled to its end while polling is paused, since attempts cost money', async ({ openShut }) => {
    const { world, under } = await openShut()
    await under.run('pausePolling', { minutes: 60 })
    const shut = await under.run('rentWithRetries', retriesRequest({ attempts: 1, deadline: 330 }))
    await passAlmost(world, under, shut)
    expect(await ended(under, shut)).toMatchObject({
      step: 'failed',
      attempts: [{ why: { code: 'no_ssh' } }],
    })
    expect(await onAccount(world)).toEqual([])
  })

  test.for<[string, FaultInput]>([
    ['an answer that is lost', { method: 'PUT', path: '^/api/v0/asks/', kind: 'reset_after', times: 1 }],
    ['an answer that is broken', { method: 'PUT', path: '^/api/v0/asks/', kind: 'garbage', times: 1 }],
    [
      'an offer that is gone',
      { method: 'PUT', path: '^/api/v0/asks/', kind: 'status', status: 404, error: 'no_such_ask', times: 1 },
    ],
    [
      'a market that fails',
      { method: 'POST', path: '^/api/v0/bundles/', kind: 'status', status: 500, times: 6 },
    ],
    [
      'a destroy that is lost',
      { method: 'DELETE', path: '^/api/v0/instances/', kind: 'reset_after', times: 2 },
    ],
    [
      'a destroy that fails',
      { method: 'DELETE', path: '^/api/v0/instances/', kind: 'status', status: 503, times: 6 },
    ],
  ])('%s leaves one instance', async ([name, fault], { connected }) => {
    const { world, under } = await connected()
    world.sim.controls.setFaults([fault])
    const id = await under.run('rentWithRetries', retriesRequest())
    if (name.startsWith('a destroy'))
      await world.sim.controls.forceStatus(await tried(under, id, 1), 'exited')
    await under.until(() => instancesOf(under).some(({ state }) => state === 'running'))
    await ended(under, id)
    expect((await onAccount(world)).map(({ actual_status }) => actual_status)).toEqual(['running'])
  })

  test('fails once its attempts are used up, leaves no instance and counts the cost', async ({
    connected,
  }) => {
    const { world, under } = await connected()
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 2 }))
    for (const number of [1, 2])
      await world.sim.controls.forceStatus(await tried(under, id, number), 'exited')
    const view = await ended(under, id)
    expect(view).toMatchObject({ step: 'failed', problem: { code: 'tries_used_up' } })
    expect(view?.problem?.message).toContain('crashed on every machine')
    expect(await onAccount(world)).toEqual([])
    const charged = world.sim.controls.ledger().micro_dollars
    expect(Math.abs((view?.retries?.spent ?? 0) - charged)).toBeLessThan(2000)
    await under.run('dismissRental', { rental: id })
    expect(rentalOf(under, id)).toBeUndefined()
  })

  test('fails at its cost ceiling, though the deadline is far', async ({ openShut }) => {
    const { world, under } = await openShut({ speed: 1 })
    const ceiling = 100_000
    const id = await under.run(
      'rentWithRetries',
      retriesRequest({ ceiling: ceiling / 1_000_000, deadline: 7200 }),
    )
    const instance = await tried(under, id, 1)
    await world.sim.controls.advance(900)
    await under.until(() => rentalOf(under, id)?.step === 'entering')
    const { spent } = under.account().instances[instance] ?? instanceView()
    const left = ((ceiling - spent.micros) * 3600) / spent.perHour
    expect(900 + left).toBeLessThan(7000)
    await world.sim.controls.advance(0.9 * left)
    await under.poll(3)
    expect(rentalOf(under, id)?.step).toBe('entering')
    await world.sim.controls.advance(0.15 * left)
    const view = await ended(under, id)
    const why = { code: 'ceiling_reached' }
    expect(view).toMatchObject({ step: 'failed', problem: why, attempts: [{ instance, why }] })
    expect(view?.retries?.spent).toBeGreaterThanOrEqual(ceiling)
    expect(view?.retries?.spent).toBeLessThan(1.1 * ceiling)
    expect(await onAccount(world)).toEqual([])
  })

  test('leaves no instance when it is cancelled at any step', async ({ openShut, expect }) => {
    const { world, under } = await openShut({ speed: 1 })
    const { controls } = world.sim
    const slow = (method: string, path: string) =>
      controls.setFaults([{ method, path, kind: 'delay', ms: 1500, times: 1 }])
    const steps: [
      RentalStep,
      created: number,
      before: () => void,
      onTheWay?: (instance: number) => Promise<unknown>,
    ][] = [
      ['searching', 0, () => slow('POST', '^/api/v0/bundles/')],
      ['asking', 1, () => slow('PUT', '^/api/v0/asks/')],
      ['waiting', 1, () => undefined],
      ['entering', 1, () => undefined, () => controls.advance(900)],
      [
        'dropping',
        1,
        () => controls.setFaults([{ method: 'DELETE', kind: 'status', status: 503, times: 4 }]),
        instance => controls.forceStatus(instance, 'exited'),
      ],
    ]
    for (const [step, created, before, onTheWay] of steps) {
      const createdBefore = everCreated(world)
      before()
      const id = await under.run('rentWithRetries', retriesRequest({ deadline: 7200 }))
      if (onTheWay) await onTheWay(await tried(under, id, 1))
      await under.until(() => rentalOf(under, id)?.step === step)
      await expect.poll(() => everCreated(world) - createdBefore).toBe(created)
      await under.run('cancelRental', { rental: id })
      await under.until(() => rentalOf(under, id) === undefined)
      expect(await onAccount(world), step).toEqual([])
      expect(everCreated(world) - createdBefore, step).toBe(created)
    }
  })

  test('leaves each of two Berths on one account its own instance', async ({ connected, openWorld }) => {
    const { world, under } = await connected()
    const { startConnected } = await openWorld({ offers: 20 })
    const other = await startConnected(world.sim.baseUrl, world.sim.apiKey)
    world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'reset_after', times: 2 }])
    const ids = await Promise.all([under, other].map(berth => berth.run('rentWithRetries', retriesRequest())))
    await ended(under, ids[0] ?? '')
    await ended(other, ids[1] ?? '')
    await under.run('refresh', {})
    expect((await onAccount(world)).map(({ actual_status }) => actual_status)).toEqual(['running', 'running'])
    expect(everCreated(world)).toBe(2)
  })
})
