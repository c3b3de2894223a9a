import { expect, vi } from 'vitest'
import { everCreated, isHalted, rentRunning, setLimit, stateOf } from '#test/berth/steps.ts'
import type { BerthUnderTest } from '#test/berth/world.ts'
import { nextMorning } from '#test/morning.ts'
import { test as base, onAccount, rentalOf, retriesRequest } from '../renting/request.ts'

/** Worlds with one instance that has cost more than the monthly budget set later. */
const test = base.extend('spending', ({ connected }) => async (bid?: number) => {
  const { world, under } = await connected({ start: nextMorning() })
  const { id: first } = await rentRunning(under, bid === undefined ? {} : { bid })
  await world.sim.controls.advance(3600)
  await under.poll()
  return { world, under, first }
})

const budget = (under: BerthUnderTest) =>
  setLimit(under, { when: { kind: 'budget', per: 'month', dollars: 0.01 } })

const lines = (under: BerthUnderTest, text: string) => under.run('searchActivity', { text, limit: 50 })

test.concurrent('a watch is held back by a reached budget, says so, and rents after a snooze', async ({
  spending,
  expect,
}) => {
  const { world, under, first } = await spending()
  const limit = await budget(under)
  await under.until(() => isHalted(under, first))
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
  await vi.waitFor(() => expect(world.titles()).toContain('“Bargains” has paused renting'), 60_000)

  await under.run('snoozeLimit', { limit, minutes: 720 })
  await under.run('searchWatch', { watch })
  await under.until(() => everCreated(world) > 1)
  expect(view()?.waits).toBeUndefined()
})

test.concurrent('an attempt that a limit would stop is destroyed, and the next waits for the limit', async ({
  spending,
  expect,
}) => {
  const { world, under, first } = await spending()
  const id = await under.run('rentWithRetries', retriesRequest({ deadline: 3600 }))
  await under.until(() => rentalOf(under, id)?.attempts[0]?.instance !== undefined)
  const limit = await budget(under)
  await under.until(() => rentalOf(under, id)?.problem?.code === 'held_by_limit')
  expect(rentalOf(under, id)).toMatchObject({
    step: 'searching',
    attempts: [{ why: { code: 'stopped_by_limit' } }],
  })
  await under.poll(3)
  expect((await onAccount(world)).map(one => one.id)).toEqual([first])
  expect(everCreated(world)).toBe(2)
  expect(
    world.notifier.shown.filter(({ title }) => title.endsWith('is ready') && !title.includes(String(first))),
  ).toEqual([])
  await expect.poll(() => lines(under, 'Renting is on hold')).toHaveLength(1)
  expect(await lines(under, 'stopped elsewhere')).toEqual([])
  for (const text of ['was created and is starting', 'Dropped attempt 1 of 5'])
    expect(await lines(under, text)).toHaveLength(1)

  await under.run('snoozeLimit', { limit, minutes: 720 })
  await under.until(() => rentalOf(under, id)?.step === 'ready')
  expect(rentalOf(under, id)?.attempts).toHaveLength(2)
  expect(await lines(under, 'is running, waiting for SSH')).not.toEqual([])
})

test.concurrent('a running attempt is destroyed by its rental alone, not by the limit too', async ({
  openShut,
}) => {
  // SSH never answers, so that it stays an attempt.
  const { world, under } = await openShut({ start: nextMorning() })
  const id = await under.run('rentWithRetries', retriesRequest({ deadline: 7200 }))
  await under.until(() => rentalOf(under, id)?.step === 'entering')
  const tried = rentalOf(under, id)?.instance
  await world.sim.controls.advance(1800)
  await under.run('refresh', {})
  await budget(under)
  await under.until(() => rentalOf(under, id)?.attempts[0]?.why?.code === 'stopped_by_limit')
  await under.until(() => rentalOf(under, id)?.problem?.code === 'held_by_limit')
  expect(world.requests('PUT', `/instances/${tried}/`)).toEqual([])
  expect(world.requests('DELETE', `/instances/${tried}/`)).toHaveLength(1)
  expect(await lines(under, 'Dropped attempt 1')).toHaveLength(1)
  expect(await lines(under, 'Stopped')).toEqual([])
})

test.concurrent('attempts held back by a credit limit keep searching the market', async ({
  openWorld,
  expect,
}) => {
  const world = await openWorld()
  world.sim.controls.setCredit(1)
  const under = await world.startConnected()
  await setLimit(under, { when: { kind: 'credit', hours: 720 } })
  const id = await under.run('rentWithRetries', retriesRequest())
  await under.until(() => rentalOf(under, id)?.problem?.code === 'held_by_limit')
  const searches = () => world.requests('POST', '/bundles/').length
  const before = searches()
  await world.sim.controls.advance(120)
  // Not in State, which need not change by a search.
  await expect.poll(searches).toBeGreaterThan(before)
  expect(everCreated(world)).toBe(0)
  await under.run('cancelRental', { rental: id })
})

test.concurrent('an outbid instance is neither raised nor replaced while a budget is reached', async ({
  spending,
  expect,
}) => {
  const { world, under, first } = await spending(0.4)
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
  expect(world.requests('PUT', '/bid_price/')).toEqual([])

  await under.run('snoozeLimit', { limit, minutes: 720 })
  await under.until(() => recovery()?.raises === 1)
})
