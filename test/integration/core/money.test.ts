import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { rentSeveral } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { nextMorning } from '#test/morning.ts'
import { profileNames, profiles } from '../profiles.ts'

describe.each(profileNames)('on the %s profile', name => {
  let world: World
  let berth: BerthUnderTest

  beforeAll(async () => {
    // A day that ends meanwhile would be shown as charged, and a poll across its end split by time.
    const options = { start: nextMorning(), speed: 60, deployment: profiles[name], limits: false }
    world = await createWorld(options)
    // The precision depends on the length of a poll by the world's clock.
    world.platform.clock = systemClock
    berth = await world.startConnected()
  })
  afterAll(() => world.close())

  const cent = 10_000

  /** What Berth has counted on all days, in total and `by` instance. */
  async function counted(): Promise<{ spent: number; toppedUp: number; by: Record<string, number> }> {
    const { days } = await berth.run('moneyHistory', { from: 0, samples: 5000, days: 100 })
    const by: Record<string, number> = {}
    for (const { instances } of days)
      for (const [id, share] of Object.entries(instances)) by[id] = (by[id] ?? 0) + share
    const total = (field: 'spent' | 'toppedUp') => days.reduce((sum, day) => sum + day[field], 0)
    return { spent: total('spent'), toppedUp: total('toppedUp'), by }
  }

  test('counted spending is the service’s ledger to the cent, per instance within a poll', async () => {
    const { controls } = world.sim
    const [first, second] = await rentSeveral(berth, {}, {})
    await controls.advance(36_000)
    await berth.run('refresh', {})
    await berth.run('stopInstance', { instance: first.id })
    await controls.advance(20_000)
    await berth.run('refresh', {})
    controls.topUp(40)
    await berth.run('refresh', {})
    // Berth is away while one machine runs, the other is destroyed by someone else, and money is paid in twice.
    await berth.close()
    await controls.advance(7200)
    await world.api('DELETE', `/api/v0/instances/${first.id}/`)
    controls.topUp(25)
    await controls.advance(7200)
    controls.topUp(10)
    berth = await world.start()
    await berth.until(() => berth.account().connection.status === 'online')
    // The world continues while the ledger is read.
    const before = controls.ledger()
    await berth.run('refresh', {})
    const { spent, toppedUp, by } = await counted()
    const after = controls.ledger()
    expect(spent).toBeGreaterThan(before.micro_dollars - cent)
    expect(spent).toBeLessThan(after.micro_dollars + cent)
    expect(Math.abs(toppedUp - 75_000_000)).toBeLessThanOrEqual(cent)
    for (const [at, { instance_id, micro_dollars }] of after.instances.entries()) {
      const { pricePerHour = 0 } = instance_id === first.id ? first : second
      // A poll is two seconds, two minutes of this world, or twice that on a busy computer; its clock has whole seconds.
      const poll = pricePerHour / 15 + cent
      expect(by[instance_id], `#${instance_id}`).toBeLessThan(micro_dollars + poll)
      const least = (before.instances[at]?.micro_dollars ?? 0) - poll
      expect(by[instance_id], `#${instance_id}`).toBeGreaterThan(least)
    }
  })
})
