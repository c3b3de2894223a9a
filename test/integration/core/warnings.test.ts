import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { publicProfile } from '../../../simulator/deployment/profile.ts'
import { profileNames, profiles } from '../profiles.ts'
import { rentRunning } from './steps.ts'
import { type BerthUnderTest, createWorld, type World } from './world.ts'

const day = 86_400

let world: World
let under: BerthUnderTest
afterEach(() => world.close())

const titles = () => world.notifier.shown.map(({ title }) => title)
const now = () => world.sim.controls.ledger().now

/** Restarts Berth on the same files, and polls. */
async function restart(): Promise<void> {
  await under.close()
  under = await world.start()
  await under.until(() => under.account().connection.status === 'online')
  await under.run('refresh', {})
}

describe.each(profileNames)('on the %s profile', name => {
  beforeEach(async () => {
    world = await createWorld({ deployment: profiles[name] })
    world.sim.controls.setCredit(1000)
    under = await world.startConnected()
  })

  test('a contract ending within a day and a full disk alert once, even after a restart', async () => {
    const { id } = await rentRunning(under)
    world.notifier.shown.length = 0
    const { controls } = world.sim
    controls.setInstance(id, { endDate: now() + 2 * day, diskUsage: 17.9 })
    await under.run('refresh', {})
    expect(titles()).toEqual([])
    controls.setInstance(id, { endDate: now() + day / 2, diskUsage: 18.5 })
    await under.run('refresh', {})
    await under.run('refresh', {})
    expect(titles()).toEqual([
      expect.stringMatching(/^The contract of .* ends (at|on) /),
      expect.stringMatching(/^The disk of .* is 92 % full$/),
    ])
    await restart()
    expect(titles()).toHaveLength(2)
    controls.setInstance(id, { diskUsage: 15 })
    await under.run('refresh', {})
    controls.setInstance(id, { diskUsage: 18.5 })
    await under.run('refresh', {})
    expect(titles()).toHaveLength(3)
  })
})

const asked = () =>
  world.sim.controls.requests().filter(({ path }) => path.includes('pending-price-increases')).length

test('a service without price increases is asked for them at most once a day', async () => {
  world = await createWorld()
  under = await world.startConnected()
  await rentRunning(under)
  await expect.poll(asked).toBe(1)
  await under.run('refresh', {})
  await world.sim.controls.advance(day / 2)
  await under.run('refresh', {})
  await restart()
  expect(asked()).toBe(1)
  expect(under.account().priceIncreases).toEqual({})
})

describe('a price increase', () => {
  let id: number
  beforeEach(async () => {
    world = await createWorld({ deployment: publicProfile })
    world.sim.controls.setCredit(1000)
    under = await world.startConnected()
    id = (await rentRunning(under)).id
    world.notifier.shown.length = 0
    world.sim.controls.askPriceIncrease(id, 1.5)
    await laterPoll()
    await under.until(() => id in under.account().priceIncreases)
  })

  /** Polls once price increases are due to be read again. */
  async function laterPoll(): Promise<void> {
    await world.sim.controls.advance(660)
    await under.run('refresh', {})
  }
  const shown = () => under.account().priceIncreases[id]
  const answer = (command: 'acceptPriceIncrease' | 'refusePriceIncrease', increase = shown()?.id ?? 0) =>
    under.run(command, { instance: id, increase })

  test('alerts once with both prices, even after a restart', async () => {
    const price = (under.account().instances[id]?.pricePerHour ?? 0) / 1_000_000
    await under.until(() => titles().length === 1)
    expect(titles()[0]).toContain(`to cost $${(price * 1.5).toFixed(3)}/h instead of $${price.toFixed(3)}/h`)
    const { from = 0, until = 0 } = shown() ?? {}
    expect(from).toBe(under.account().instances[id]?.endsAt)
    expect(until).toBeGreaterThan(from)
    await laterPoll()
    await restart()
    await under.until(() => shown() !== undefined)
    expect(titles()).toHaveLength(1)
  })

  test('that is accepted applies from the contract’s end, without a contract alert', async () => {
    const before = under.account().instances[id]
    await answer('acceptPriceIncrease')
    expect(shown()).toMatchObject({ accepted: true, from: before?.endsAt })
    await restart()
    expect(shown()).toMatchObject({ accepted: true })
    const alerts = titles().length
    await world.sim.controls.advance((before?.endsAt ?? 0) - now() - day / 2)
    await under.run('refresh', {})
    expect(under.account().instances[id]?.pricePerHour).toBe(before?.pricePerHour)
    expect(
      titles()
        .slice(alerts)
        .filter(title => title.includes('contract')),
    ).toEqual([])
    await world.sim.controls.advance(day)
    await under.run('refresh', {})
    await under.run('refresh', {})
    const { pricePerHour = 0, state } = under.account().instances[id] ?? {}
    expect(state).toBe('running')
    expect(Math.abs(pricePerHour - (before?.pricePerHour ?? 0) * 1.5)).toBeLessThan(10)
    expect(shown()).toBeUndefined()
  })

  test('that is refused changes nothing, and another one alerts again', async () => {
    const before = under.account().instances[id]
    await answer('refusePriceIncrease')
    expect(shown()).toBeUndefined()
    expect(under.account().instances[id]).toMatchObject({
      pricePerHour: before?.pricePerHour,
      endsAt: before?.endsAt,
    })
    world.sim.controls.askPriceIncrease(id, 2)
    await laterPoll()
    await under.until(() => shown() !== undefined)
    expect(titles()).toHaveLength(2)
  })

  test('that is no longer pending is refused, and the pending one is shown', async () => {
    const old = shown()?.id ?? 0
    world.sim.controls.askPriceIncrease(id, 3)
    await expect(answer('acceptPriceIncrease', old)).rejects.toMatchObject({
      problem: { code: 'no_price_increase' },
    })
    await under.until(() => shown()?.id === old + 1)
    expect(world.sim.controls.instances().find(instance => instance['id'] === id)).toBeDefined()
  })
})
