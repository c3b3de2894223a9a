import { expect, type TestContext, test } from 'vitest'
import { everCreated, instancesOf, rentalsOf, rentRunning, requestCheapest } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { onAccount, retriesRequest } from './renting/request.ts'

/** Two machines with a Berth each, on one account. Limits, attempts and replacements have such tests too. */
async function twoBerths(
  context: TestContext,
  speed = 60,
): Promise<{ world: World; one: BerthUnderTest; two: BerthUnderTest }> {
  const [world, second] = await Promise.all([createWorld({ speed }), createWorld({ offers: 20 })])
  context.onTestFinished(async () => {
    await second.close()
    await world.close()
  })
  world.sim.controls.setCredit(1000)
  const one = await world.startConnected()
  const two = await second.start()
  await two.run('changeSettings', { settings: { pollInterval: 2 } })
  await two.run('connectAccount', { baseUrl: world.sim.baseUrl, key: world.sim.apiKey })
  await two.until(() => two.account().connection.status === 'online')
  return { world, one, two }
}

test.concurrent('two rentals whose answers are lost at once each find their own instance', async context => {
  const { world, one, two } = await twoBerths(context)
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

test.concurrent('cancelling a rental in one Berth leaves the other’s rental alone', async context => {
  // In a faster world it may run before it is cancelled.
  const { world, one, two } = await twoBerths(context, 1)
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

test.concurrent('a bid raised by both Berths is no higher than one would raise it', async context => {
  const { world, one, two } = await twoBerths(context)
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

test.concurrent('a watch that rents in each Berth rents one instance each', async context => {
  const { world, one, two } = await twoBerths(context)
  const { search, request, limits } = retriesRequest({ attempts: 2 }, { access: 'none' })
  const price = 32
  const rents = { request, limits: { ...limits, price }, most: 1 }
  const bargain = { name: 'Any', search: { ...search, filter: { priceTo: price } }, every: 1, rents }
  const ids = await Promise.all([one, two].map(berth => berth.run('saveWatch', { request: bargain })))
  for (const [at, berth] of [one, two].entries()) {
    const watch = () => berth.account().watches[ids[at] ?? '']
    await berth.until(() => watch()?.paused === true)
    expect(watch()).toMatchObject({ rented: 1 })
    expect(Object.keys(berth.account().watches)).toEqual([ids[at]])
  }
  expect(everCreated(world)).toBe(2)
  expect((await onAccount(world)).map(({ actual_status }) => actual_status)).toEqual(['running', 'running'])
})
