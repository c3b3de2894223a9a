import { setImmediate } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { wire } from '#service/http/http-request.ts'
import { accountNow } from '#shared/derived.ts'
import type { FaultInput } from '#simulator/http/faults.ts'
import { HandClock, haste } from '#test/berth/clocks.ts'
import {
  creates,
  everCreated,
  instancesOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
  requestCheapest,
  setLimit,
} from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, test } from '#test/berth/world.ts'
import { ended, onAccount, rentalOf, retriesRequest } from './renting/request.ts'

const everything = (status: 401 | 403): FaultInput => ({ path: '^/api/', kind: 'status', status })
const onCreate = (rule: Omit<FaultInput, 'method' | 'path'>): FaultInput => ({
  method: 'PUT',
  path: '^/api/v0/asks/',
  times: 1,
  ...rule,
})
const isRefused = ({ account }: BerthUnderTest) => account().connection.status === 'refused'

describe.concurrent('a temporary refusal of the key', () => {
  test('is checked once more before it is reported', async ({ connected }) => {
    const { world, under } = await connected()
    world.sim.controls.setFaults([{ ...everything(401), times: 2 }])
    await under.run('refresh', {})
    expect(under.account().connection).toMatchObject({ status: 'connecting', since: expect.any(Number) })
    await under.until(() => under.account().connection.status === 'online')
    expect(Object.values(under.berth.state().activity).filter(({ kind }) => kind === 'error')).toEqual([])
    expect(world.notifier.shown).toEqual([])
  })

  test.for([401, 403] as const)(
    'a %i that stays is reported once, and so is its end',
    async (status, { connected }) => {
      const { world, under } = await connected()
      world.sim.controls.setFaults([everything(status)])
      await under.until(() => isRefused(under))
      const told = () => world.notifier.shown.filter(({ id }) => id.endsWith('/key'))
      expect(told()).toMatchObject([{ title: expect.stringMatching(/^The API key of .* was refused$/) }])
      world.sim.controls.setFaults([])
      await under.until(() => under.account().connection.status === 'online')
      expect(under.texts().filter(text => text.endsWith('is accepted again'))).toHaveLength(1)
      expect(told()).toHaveLength(1)
    },
  )

  test('keeps the two-factor session, which only a lasting refusal ends', async ({ connected }) => {
    const { world, under: first } = await connected()
    const { entries } = world.keychain
    const { secret } = await first.run('createApiKey', {
      request: { name: 'session', permissions: { user_read: {}, instance_read: {} } },
    })
    await first.close()
    const [entry] = [...entries].find(([, key]) => key === world.sim.apiKey) ?? []
    entries.set(`${entry} session`, secret)
    const under = await world.start()
    await under.until(() => under.account().connection.status === 'online')

    world.sim.controls.setFaults([{ ...everything(401), times: 2 }])
    await under.run('refresh', {})
    expect(under.account().connection.status).toBe('connecting')
    await under.until(() => under.account().connection.status === 'online')
    expect(entries.get(`${entry} session`)).toBe(secret)
    expect(under.texts().filter(text => text.includes('two-factor'))).toEqual([])

    world.sim.controls.setFaults([{ ...everything(401), times: 4 }])
    await under.until(() => under.texts().includes('The two-factor login has expired'))
    await under.until(() => under.account().connection.status === 'online')
    expect([...entries.keys()]).not.toContain(`${entry} session`)
    expect(entries.get(entry ?? '')).toBe(world.sim.apiKey)
  })

  test('continues a rental whose answer was lost', async ({ connected }) => {
    const { world, under } = await connected()
    const request = await requestCheapest(under)
    world.sim.controls.setFaults([onCreate({ kind: 'reset_after' }), everything(401)])
    await under.run('rent', { request })
    await under.until(() => isRefused(under) && rentalsOf(under)[0]?.problem?.code === 'unauthorized')
    world.sim.controls.setFaults([])
    await under.until(() => rentalsOf(under).length === 0 && instancesOf(under)[0]?.state === 'running')
    expect(everCreated(world)).toBe(1)
  })

  test('continues a rental if only its own poll was rejected', async ({ connected }) => {
    const { world, under } = await connected()
    const request = await requestCheapest(under)
    const polls: FaultInput = { method: 'GET', path: '/instances/$', kind: 'status', status: 401 }
    world.sim.controls.setFaults([onCreate({ kind: 'reset_after' }), polls])
    await under.run('rent', { request })
    await under.until(() => rentalsOf(under)[0]?.problem?.code === 'unauthorized')
    expect(isRefused(under)).toBe(false)
    world.sim.controls.setFaults([])
    await under.until(() => rentalsOf(under).length === 0 && instancesOf(under)[0]?.state === 'running')
    expect(everCreated(world)).toBe(1)
  })

  test('continues a cancellation, so that no instance is left', async ({ connected }) => {
    // So slow that the instance does not boot before it is cancelled.
    const { world, under } = await connected({ speed: 1 })
    const rental = await rentCheapest(under)
    await under.until(() => rentalsOf(under)[0]?.step === 'waiting')
    world.sim.controls.setFaults([{ method: 'DELETE', kind: 'status', status: 403, times: 1 }])
    await under.run('cancelRental', { rental })
    await under.until(() => rentalsOf(under).length === 0)
    await under.until(() => instancesOf(under).length === 0)
    // Said once the end is on disk.
    const cancelled = () => under.texts().filter(text => text.startsWith('Rental cancelled'))
    await under.until(() => cancelled().length > 0)
    expect(cancelled()).toHaveLength(1)
  })

  test('lets the refused attempt be made again, which counts as one', async ({ connected }) => {
    const { world, under } = await connected()
    world.sim.controls.setFaults([onCreate({ kind: 'status', status: 401 })])
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 1 }))
    await ended(under, id)
    expect((await onAccount(world)).map(({ actual_status }) => actual_status)).toEqual(['running'])
    expect(creates(world)).toBe(2)
    expect(everCreated(world)).toBe(1)
  })

  test('lets an overdue limit act', async ({ connected }) => {
    // As fast as Berth's clock: a moment that is long past at the next answer counts as slept through.
    const { world, under } = await connected({ speed: haste })
    await rentCheapest(under)
    await under.until(() => rentalsOf(under)[0]?.step === 'waiting')
    await world.sleep(600)
    await under.until(() => rentalsOf(under).length === 0)
    const id = instancesOf(under)[0]?.id ?? 0
    const at = accountNow(under.account().clock, world.platform.clock.now()) + 20
    await setLimit(under, { missed: 'tell', instance: id, when: { kind: 'time', at } })
    world.sim.controls.setFaults([everything(401)])
    await under.until(() => isRefused(under))
    await under.until(() => Object.values(under.account().limits)[0]?.step === 'held')
    world.sim.controls.setFaults([
      { method: 'PUT', path: `/instances/${id}/$`, kind: 'status', status: 403, times: 1 },
    ])
    await under.run('refresh', {})
    await under.until(() => under.texts().some(text => text.includes('the first try failed')))
    await world.sim.controls.advance(60)
    await under.until(() => ['stopping', 'stopped'].includes(under.account().instances[id]?.state ?? ''))
  })
})

describe.concurrent('a missing permission', () => {
  test('ends the attempts after the second refusal, and is named', async ({ connected }) => {
    const { world, under } = await connected()
    world.sim.controls.setFaults([onCreate({ kind: 'status', status: 403, times: 100 })])
    const id = await under.run('rentWithRetries', retriesRequest({ attempts: 5 }))
    expect((await ended(under, id))?.problem).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('lacks the permission instance_write'),
    })
    expect(rentalOf(under, id)?.attempts).toHaveLength(1)
    expect(creates(world)).toBe(2)
  })

  test('rejects only actions that need it, and the account stays online', async ({ connected }) => {
    const { world, under } = await connected()
    const { id } = await rentRunning(under)
    world.sim.controls.setFaults([
      { method: 'PUT', kind: 'status', status: 403 },
      { method: 'DELETE', kind: 'status', status: 401 },
    ])
    const lacking = { problem: { message: expect.stringContaining('lacks the permission instance_write') } }
    await expect(under.run('stopInstance', { instance: id })).rejects.toMatchObject(lacking)
    await expect(under.run('changeBid', { instance: id, price: 1 })).rejects.toMatchObject(lacking)
    await expect(under.run('destroyInstance', { instance: id })).rejects.toMatchObject(lacking)
    await rentCheapest(under)
    await under.until(() => rentalsOf(under)[0]?.step === 'failed')
    expect(rentalsOf(under)[0]).toMatchObject(lacking)
    await under.run('refresh', {})
    expect(under.account().connection).toEqual({ status: 'online' })
  })
})

test('a revoked key costs under 50 requests an hour, whatever is under way', async ({ onTestFinished }) => {
  const world = await createWorld({ speed: 1 })
  onTestFinished(() => world.close())
  const first = await world.startConnected()
  await rentCheapest(first)
  await first.until(() => rentalsOf(first)[0]?.step === 'waiting')
  await world.sim.controls.advance(1800)
  await first.until(() => instancesOf(first)[0]?.state === 'running')
  const id = instancesOf(first)[0]?.id ?? 0
  const request = await requestCheapest(first)
  await first.run('changeSettings', { settings: { pollInterval: 30 } })
  await first.close()

  const clock = new HandClock(Date.now())
  const wire = watchedWire()
  onTestFinished(wire.end)
  const under = await world.start({ platform: { ...world.platform, clock } })
  /** Advances both clocks by seconds; returns in how many of these a request was sent. */
  async function pass(seconds: number): Promise<number> {
    let times = 0
    for (let second = 0; second < seconds; second += 1) {
      const before = wire.asked()
      await world.sim.controls.advance(1)
      await clock.pass(1000)
      await wire.quiet()
      if (wire.asked() > before) times += 1
    }
    return times
  }
  await under.until(() => under.account().connection.status === 'online')
  const when = { kind: 'duration', seconds: 900 } as const
  await setLimit(under, { instance: id, warning: 300, missed: 'tell', when })
  world.sim.controls.setFaults([onCreate({ kind: 'reset_after' }), everything(401)])
  await under.run('rent', { request })
  const halted = async () => {
    await pass(1)
    return isRefused(under) && rentalsOf(under)[0]?.problem?.code
  }
  await expect.poll(halted, { interval: 10, timeout: 150_000 }).toBe('unauthorized')

  const before = world.sim.controls.requests().length
  // The key is still checked again and again.
  expect(await pass(3600)).toBeGreaterThan(10)
  expect(world.sim.controls.requests().length - before).toBeLessThan(50)
  expect(Object.values(under.account().limits)).toMatchObject([{ step: 'held' }])

  world.sim.controls.setFaults([])
  await pass(400)
  expect(under.account().connection.status).toBe('online')
  const wentOn = async () => {
    await pass(1)
    return [Object.values(under.account().limits)[0]?.step, rentalsOf(under)[0]?.step ?? 'running']
  }
  await expect.poll(wentOn, { interval: 10, timeout: 150_000 }).toEqual(['done', 'running'])
  expect(everCreated(world)).toBe(2)
})

/** Counts HTTP requests, and waits until all are answered. */
function watchedWire(): { asked(): number; quiet(): Promise<void>; end(): void } {
  const plain = wire.send
  let asked = 0
  let open = 0
  wire.send = async request => {
    asked += 1
    open += 1
    try {
      return await plain(request)
    } finally {
      open -= 1
    }
  }
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await setImmediate()
  }
  return {
    asked: () => asked,
    async quiet() {
      await turns()
      while (open > 0) await turns()
    },
    end: () => {
      wire.send = plain
    },
  }
}
