import { expect } from 'vitest'
import { instancesOf, rentRunning, setLimit } from '#test/berth/steps.ts'
import { test as base } from '#test/berth/world.ts'
import { onAccount } from './request.ts'

/** Worlds with a running interruptible instance. */
const test = base.extend('interruptible', ({ connected }) => async () => {
  const { world, under } = await connected()
  return { world, under, instance: (await rentRunning(under, { bid: 0.4 })).id }
})

const replace = {
  kind: 'replace',
  ceiling: 2,
  every: 60,
  limits: { attempts: 3, ceiling: 1, deadline: 600 },
} as const

test.concurrent('a recovery raises the bid just above the minimum, not too often, up to its ceiling', async ({
  interruptible,
}) => {
  const { world, under, instance } = await interruptible()
  const view = () => under.account().instances[instance]
  const recovery = () => under.account().recoveries[instance]
  const bid = Math.max(view()?.bid ?? 0, view()?.minimumBid ?? 0) / 1_000_000
  const useless = { kind: 'raise', ceiling: bid, every: 600 } as const
  await expect(under.run('chooseRecovery', { instance, choice: useless })).rejects.toMatchObject({
    problem: { code: 'useless_ceiling', message: expect.stringContaining('bid is already $') },
  })
  await under.run('chooseRecovery', { instance, choice: { kind: 'raise', ceiling: 0.5, every: 1800 } })
  world.sim.controls.setFaults([{ method: 'PUT', path: '/bid_price/', kind: 'reset_after', times: 1 }])
  await world.sim.controls.outbid(instance)
  await under.until(() => recovery()?.raises === 1 && view()?.state === 'running')
  expect(view()?.bid).toBe(450_000)
  expect(view()?.minimumBid).toBe(441_000)

  // Outbid again too soon, it waits and says until when.
  await world.sim.controls.outbid(instance)
  await under.until(() => recovery()?.step === 'waiting')
  expect(recovery()?.until).toBeGreaterThan(0)
  const before = recovery()?.addedCost.micros ?? 0
  await world.sim.controls.advance(1800)
  await under.until(() => recovery()?.raises === 2 && view()?.state === 'running')
  expect(view()?.bid).toBe(500_000)
  await world.sim.controls.advance(3600)
  await world.sim.controls.outbid(instance)
  await under.until(() => recovery()?.step === 'held')
  expect(recovery()).toMatchObject({ raises: 2, problem: { code: 'above_ceiling' } })
  // An hour at a bid that is $0.10/h higher, and the minutes before.
  expect(recovery()?.addedCost.micros).toBeGreaterThan(before + 100_000)
  const bids = world.requests('PUT', '/bid_price/')
  expect(bids.length).toBeLessThanOrEqual(3)
})

test.concurrent('a recovery rents a replacement, with the watchdog, and stops the outbid instance', async ({
  interruptible,
}) => {
  const { world, under, instance } = await interruptible()
  await under.run('chooseRecovery', { instance, choice: replace })
  await setLimit(under, { instance, when: { kind: 'away', seconds: 86_400 }, asleep: true })
  await world.sim.controls.outbid(instance)
  await under.until(() => under.account().recoveries[instance]?.by !== undefined)
  const by = under.account().recoveries[instance]?.by ?? 0
  await under.until(() => under.account().instances[instance]?.state === 'stopped')
  expect(under.account().recoveries[by]).toMatchObject({
    of: instance,
    replacements: 1,
    choice: { kind: 'replace' },
  })
  await under.until(() => under.account().watchdogs[by]?.step === 'watching')
  expect(under.account().watchdogs[by]?.request).toEqual({ action: 'stop', lease: 86_400 })
  const all = await onAccount(world)
  expect(all.find(({ id }) => id === by)?.actual_status).toBe('running')
  expect(all).toHaveLength(2)
  expect(under.account().instances[by]?.gpu).toEqual(under.account().instances[instance]?.gpu)
})

test.concurrent('what was chosen with the rental is done once it is outbid, and taken over by its replacement', async ({
  connected,
}) => {
  const { world, under } = await connected()
  const recovery = { kind: 'raise', ceiling: 0.5, every: 600 } as const
  const { id } = await rentRunning(under, { bid: 0.4, recovery })
  expect(under.account().recoveries[id]).toMatchObject({ choice: recovery, raises: 0 })
  await world.sim.controls.outbid(id)
  await under.until(() => under.account().recoveries[id]?.raises === 1)

  await under.run('chooseRecovery', { instance: id, choice: { ...replace, every: 30 } })
  await world.sim.controls.advance(60)
  await world.sim.controls.outbid(id)
  await under.until(() => under.account().recoveries[id]?.by !== undefined)
  const by = under.account().recoveries[id]?.by ?? 0
  // Not what was chosen with the rental, but what it was changed to.
  expect(under.account().recoveries[by]?.choice.kind).toBe('replace')
})

test.concurrent('two Berths replace an outbid instance only once', async ({
  interruptible,
  openWorld,
  expect,
}) => {
  const { world, under, instance } = await interruptible()
  const { startConnected } = await openWorld({ offers: 20 })
  const other = await startConnected(world.sim.baseUrl, world.sim.apiKey)
  await other.until(() => instancesOf(other).length === 1)
  for (const berth of [under, other]) await berth.run('chooseRecovery', { instance, choice: replace })
  await world.sim.controls.outbid(instance)
  for (const berth of [under, other])
    await berth.until(() => berth.account().recoveries[instance]?.by !== undefined)
  await expect.poll(async () => (await onAccount(world)).length).toBe(2)
  expect(under.account().recoveries[instance]?.by).toBe(other.account().recoveries[instance]?.by)
})
