import { expect } from 'vitest'
import { everCreated, instancesOf, rentalsOf, rentRunning, requestCheapest } from '#test/berth/steps.ts'
import { type BerthUnderTest, test as base } from '#test/berth/world.ts'
import { onAccount } from './renting/request.ts'

/** Two machines with a Berth each, on one account. Limits, attempts and replacements have such tests too. */
const test = base.extend('twoBerths', ({ connected, openWorld }) => async (speed = 60) => {
  const { world, under: one } = await connected({ speed })
  const second = await openWorld({ offers: 20 })
  return { world, one, two: await second.startConnected(world.sim.baseUrl, world.sim.apiKey) }
})

test.concurrent('two rentals whose answers are lost at once each find their own instance', async ({
  twoBerths,
}) => {
  const { world, one, two } = await twoBerths()
  const both = [one, two]
  const requests = [
    await requestCheapest(one, { label: 'first' }),
    await requestCheapest(two, { label: 'second' }),
  ]
  world.sim.controls.setFaults([{ method: 'PUT', path: '^/api/v0/asks/', kind: 'reset_after', times: 2 }])
  const [first, second] = requests
  if (!first || !second) throw new Error('nothing to ask for')
  // Both have the same cheapest offer: the second takes another.
  const { offers } = await two.run('searchOffers', {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
  })
  const other = offers.find(({ id }) => id !== first.offer)
  await Promise.all([
    one.run('rent', { request: first }),
    two.run('rent', { request: { ...second, offer: other?.id ?? 0 } }),
  ])
  for (const berth of both)
    await berth.until(
      () =>
        rentalsOf(berth).length === 0 &&
        instancesOf(berth).filter(({ state }) => state === 'running').length === 2,
    )
  expect(everCreated(world)).toBe(2)
  const mine = (berth: BerthUnderTest) =>
    Object.values(berth.berth.state().activity)
      .filter(({ text }) => text.startsWith('Rented as #'))
      .map(({ text, instance }) => [
        text.split(': ')[1]?.split(' ')[0],
        berth.account().instances[instance ?? 0]?.label,
      ])
  expect(mine(one)).toEqual([['first', 'first']])
  expect(mine(two)).toEqual([['second', 'second']])
})

test.concurrent('cancelling a rental in one Berth leaves the other’s rental alone', async ({ twoBerths }) => {
  // In a faster world it may run before it is cancelled.
  const { world, one, two } = await twoBerths(1)
  const request = await requestCheapest(one)
  const id = await two.run('rent', { request })
  await two.until(() => rentalsOf(two)[0]?.step === 'waiting')
  const kept = await one.run('rent', { request: await requestCheapest(one) })
  await one.until(() => rentalsOf(one).find(rental => rental.id === kept)?.step === 'waiting')
  world.sim.controls.setFaults([{ method: 'DELETE', path: '/instances/', kind: 'reset_after', times: 1 }])
  await two.run('cancelRental', { rental: id })
  await one.until(() => instancesOf(one).length === 1)
  await world.sim.controls.advance(600)
  await one.until(() => rentalsOf(one).length === 0)
  await one.until(() => instancesOf(one).length === 1 && instancesOf(one)[0]?.state === 'running')
  expect(await onAccount(world)).toHaveLength(1)
})

test.concurrent('a bid raised by both Berths is no higher than one would raise it', async ({ twoBerths }) => {
  const { world, one, two } = await twoBerths()
  const { id } = await rentRunning(one, { bid: 0.4 })
  await two.until(() => two.account().instances[id]?.state === 'running')
  for (const berth of [one, two])
    await berth.run('chooseRecovery', { instance: id, choice: { kind: 'raise', ceiling: 2, every: 600 } })
  await world.sim.controls.outbid(id)
  for (const berth of [one, two]) {
    const raised = () => berth.account().instances[id]?.bid !== 400_000
    await berth.until(() => raised() && berth.account().instances[id]?.state === 'running')
  }
  for (const berth of [one, two]) {
    await berth.run('refresh', {})
    expect(berth.account().instances[id]).toMatchObject({ bid: 450_000, minimumBid: 441_000 })
  }
})
