import { expect, type TestContext, test, vi } from 'vitest'
import { everCreated, rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { nextMorning } from '#test/morning.ts'
import { onAccount, rentalOf, retriesRequest, shutWorld } from '../renting/request.ts'

/** A world with one instance that has cost more than the monthly budget set later. */
async function spendingWorld(
  { onTestFinished }: TestContext,
  bid?: number,
): Promise<{ world: World; under: BerthUnderTest; first: number }> {
  const world = await createWorld({ start: nextMorning() })
  onTestFinished(() => world.close())
  world.sim.controls.setCredit(1000)
  const under = await world.startConnected()
  const { id } = await rentRunning(under, bid === undefined ? {} : { bid })
  await world.sim.controls.advance(3600)
  await under.run('refresh', {})
  return { world, under, first: id }
}

const budget = (under: BerthUnderTest) =>
  under.run('setLimit', {
    when: { kind: 'budget', per: 'month', dollars: 0.01 },
    action: 'stop',
    warning: 0,
    missed: 'act',
  })

const stateOf = (under: BerthUnderTest, id: number) => under.account().instances[id]?.state
const lines = (under: BerthUnderTest, text: string) => under.run('searchActivity', { text, limit: 50 })

test.concurrent('a watch is held back by a reached budget, says so, and rents after a snooze', async context => {
  const { world, under, first } = await spendingWorld(context)
  const limit = await budget(under)
  await under.until(() => ['stopping', 'stopped'].includes(stateOf(under, first) ?? ''))
  const { search, request, limits } = retriesRequest({ attempts: 2, deadline: 3600 }, { access: 'none' })
  const watch = await under.run('saveWatch', {
    request: { name: 'Bargains', search, every: 1, rents: { request, limits, most: 3 } },
  })
  const view = () => under.account().watches[watch]
  await under.until(() => view()?.waits !== undefined)
  expect(view()?.waits?.message).toContain('spending reached $0.01 this month')
  for (let poll = 0; poll < 3; poll += 1) {
    await world.sim.controls.advance(120)
    await under.run('searchWatch', { watch })
  }
  expect(everCreated(world)).toBe(1)
  expect(await lines(under, 'has paused renting')).toHaveLength(1)
  const titles = () => world.notifier.shown.map(({ title }) => title)
  await vi.waitFor(() => expect(titles()).toContain('“Bargains” has paused renting'), 60_000)

  await under.run('snoozeLimit', { limit, minutes: 720 })
  await under.run('searchWatch', { watch })
  await under.until(() => everCreated(world) > 1, 45_000)
  expect(view()?.waits).toBeUndefined()
})

test.concurrent('an attempt that a limit would stop is destroyed, and the next waits for the limit', async context => {
  const { world, under, first } = await spendingWorld(context)
  const id = await under.run('rentWithRetries', retriesRequest({ deadline: 3600 }))
  await under.until(() => rentalOf(under, id)?.tries[0]?.instance !== undefined)
  const limit = await budget(under)
  await under.until(() => rentalOf(under, id)?.problem?.code === 'held_by_limit', 40_000)
  expect(rentalOf(under, id)).toMatchObject({
    step: 'searching',
    tries: [{ why: { code: 'stopped_by_limit' } }],
  })
  for (let poll = 0; poll < 3; poll += 1) await under.run('refresh', {})
  expect((await onAccount(world)).map(one => one.id)).toEqual([first])
  expect(everCreated(world)).toBe(2)
  expect(
    world.notifier.shown.filter(({ title }) => title.endsWith('is ready') && !title.includes(String(first))),
  ).toEqual([])
  await context.expect.poll(() => lines(under, 'Renting is on hold')).toHaveLength(1)
  expect(await lines(under, 'stopped elsewhere')).toEqual([])
  for (const text of ['was created and is starting', 'Dropped attempt 1 of 5'])
    expect(await lines(under, text)).toHaveLength(1)

  await under.run('snoozeLimit', { limit, minutes: 720 })
  await under.until(() => rentalOf(under, id)?.step === 'ready', 40_000)
  expect(rentalOf(under, id)?.tries).toHaveLength(2)
  expect(await lines(under, 'is running, waiting for SSH')).not.toEqual([])
})

test.concurrent('a running attempt is destroyed by its rental alone, not by the limit too', async context => {
  // SSH never answers, so that it stays an attempt.
  const { world, under } = await shutWorld(context, { start: nextMorning() })
  const id = await under.run('rentWithRetries', retriesRequest({ deadline: 7200 }))
  await under.until(() => rentalOf(under, id)?.step === 'entering', 40_000)
  const tried = rentalOf(under, id)?.instance
  await world.sim.controls.advance(1800)
  await under.run('refresh', {})
  await budget(under)
  await under.until(() => rentalOf(under, id)?.tries[0]?.why?.code === 'stopped_by_limit')
  await under.until(() => rentalOf(under, id)?.problem?.code === 'held_by_limit', 45_000)
  const asked = world.sim.controls.requests().filter(({ path }) => path === `/api/v0/instances/${tried}/`)
  expect(asked.filter(({ method }) => method === 'PUT')).toEqual([])
  expect(asked.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  expect(await lines(under, 'Dropped attempt 1')).toHaveLength(1)
  expect(await lines(under, 'Stopped')).toEqual([])
})

test.concurrent('attempts held back by a credit limit keep searching the market', async context => {
  const world = await createWorld()
  context.onTestFinished(() => world.close())
  world.sim.controls.setCredit(1)
  const under = await world.startConnected()
  const when = { kind: 'credit', hours: 720 } as const
  await under.run('setLimit', { when, action: 'stop', warning: 0, missed: 'act' })
  const id = await under.run('rentWithRetries', retriesRequest())
  await under.until(() => rentalOf(under, id)?.problem?.code === 'held_by_limit')
  const searches = () =>
    world.sim.controls.requests().filter(({ path }) => path.startsWith('/api/v0/bundles')).length
  const before = searches()
  await world.sim.controls.advance(120)
  // Not in State, which need not change by a search.
  await expect.poll(searches).toBeGreaterThan(before)
  expect(everCreated(world)).toBe(0)
  await under.run('cancelRental', { rental: id })
})

test.concurrent('an outbid instance is neither raised nor replaced while a budget is reached', async context => {
  const { world, under, first } = await spendingWorld(context, 0.4)
  const recovery = () => under.account().recoveries[first]
  await world.sim.controls.outbid(first)
  await under.run('refresh', {})
  await under.until(() => stateOf(under, first) === 'outbid')
  // The limit stops nothing.
  const limit = await budget(under)
  await under.run('chooseRecovery', {
    instance: first,
    choice: { kind: 'replace', ceiling: 2, every: 60, limits: { attempts: 3, ceiling: 1, deadline: 600 } },
  })
  await under.until(() => recovery()?.problem?.code === 'held_by_limit')
  await under.run('chooseRecovery', { instance: first, choice: { kind: 'raise', ceiling: 0.6, every: 60 } })
  await under.until(() => recovery()?.problem?.code === 'held_by_limit')
  await under.run('refresh', {})
  expect(everCreated(world)).toBe(1)
  expect(world.sim.controls.requests().filter(({ path }) => path.includes('/bid_price/'))).toEqual([])

  await under.run('snoozeLimit', { limit, minutes: 720 })
  await under.until(() => recovery()?.raises === 1, 45_000)
})
