import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WatchRequest, WatchView } from '#shared/automation/watch.ts'
import { everCreated, instancesOf } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

let world: World
let berth: BerthUnderTest

beforeAll(async () => {
  world = await createWorld({ speed: 60 })
  berth = await world.startConnected()
})
afterAll(() => world.close())

const query = { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 10_000 } as const

/** A watch for the three cheapest offers. */
async function requestForCheapest(): Promise<WatchRequest> {
  const { offers } = await berth.run('searchOffers', { query })
  const prices = offers.flatMap(({ price }) => (price === undefined ? [] : [price])).sort((a, b) => a - b)
  return {
    name: 'Bargains',
    search: {
      query,
      filter: { priceTo: (prices[2] ?? 0) / 1_000_000 },
      order: { column: 'price', descending: false },
    },
    every: 1,
  }
}

const watchOf = (id: string): WatchView => {
  const watch = berth.account().watches[id]
  if (!watch) throw new Error(`there is no watch ${id}`)
  return watch
}
const alertsOf = (id: string) => world.notifier.shown.filter(notice => notice.id.endsWith(id))
const searches = () => world.requests('POST', '/bundles/')

/**
 * Rents the cheapest offer that is the only one of its machine. Gives its price, and a function that puts it back on
 * the market, where it is new.
 */
async function takeCheapest(): Promise<{ offer: number; priceTo: number; putBack: () => Promise<void> }> {
  const { offers } = await berth.run('searchOffers', { query })
  const alone = offers.find(
    ({ machineId }) => offers.filter(other => other.machineId === machineId).length === 1,
  )
  if (!alone) throw new Error('every machine makes several offers')
  const { new_contract: id } = await world.api<{ new_contract: number }>('PUT', `/api/v0/asks/${alone.id}/`, {
    image: 'ubuntu',
    disk: 20,
  })
  return {
    offer: alone.id,
    priceTo: (alone.price ?? 0) / 1_000_000 + 0.001,
    putBack: async () => void (await world.api('DELETE', `/api/v0/instances/${id}/`)),
  }
}

/** A watch that gets a new match after its first search. */
async function watchAndMatch(): Promise<{ id: string; offer: number }> {
  const request = await requestForCheapest()
  const { offer, priceTo, putBack } = await takeCheapest()
  const search = { ...request.search, filter: { priceTo } }
  const id = await berth.run('saveWatch', { request: { ...request, search } })
  await berth.until(() => watchOf(id).searchedAt !== undefined)
  expect(alertsOf(id)).toEqual([])
  await putBack()
  await berth.run('searchWatch', { watch: id })
  await berth.until(() => alertsOf(id).length > 0)
  return { id, offer }
}

test('a match alerts once, however often the market is searched or Berth restarted', async () => {
  const { id } = await watchAndMatch()
  const created = everCreated(world)
  expect(alertsOf(id)).toMatchObject([
    { title: expect.stringMatching(/ at \$\d+\.\d{3}\/h$/), body: expect.stringContaining('“Bargains”') },
  ])
  expect(watchOf(id).matching).toBeGreaterThanOrEqual(3)
  const first = watchOf(id).searchedAt ?? 0
  await berth.until(() => (watchOf(id).searchedAt ?? 0) > first)
  await berth.run('searchWatch', { watch: id })
  await berth.close()

  berth = await world.start()
  const before = searches().length
  await berth.until(() => berth.account().connection.status === 'online')
  await berth.run('searchWatch', { watch: id })
  expect(searches().length).toBeGreaterThan(before)
  expect(alertsOf(id)).toHaveLength(1)
  // The first search of each hour is stored.
  await world.sim.controls.advance(3600)
  await berth.run('refresh', {})
  await berth.run('searchWatch', { watch: id })
  await berth.run('pauseWatch', { watch: id, paused: true })
  // Stored hourly: a new hour of the world may have begun between the searches.
  expect((await berth.run('watchPrices', { watch: id })).at(-1)).toMatchObject({
    count: watchOf(id).matching,
    lowest: watchOf(id).best?.price,
  })
  expect(everCreated(world)).toBe(created)

  await berth.run('deleteWatch', { watch: id })
  expect(berth.account().watches).toEqual({})
})

test('a click on a match alert opens the offer', async () => {
  const { id, offer } = await watchAndMatch()
  world.notifier.click(alertsOf(id)[0]?.id ?? '', 'show')
  expect(berth.berth.state().goTo?.place).toMatchObject({
    screen: 'offers',
    offer,
    search: { query: { type: 'on-demand' } },
  })
  await berth.run('deleteWatch', { watch: id })
})

test('a paused watch does not search the market', async () => {
  const id = await berth.run('saveWatch', { request: await requestForCheapest() })
  await berth.run('searchWatch', { watch: id })
  await berth.run('pauseWatch', { watch: id, paused: true })
  const before = searches().length
  await world.sim.controls.advance(600)
  await berth.poll(2)
  expect(searches()).toHaveLength(before)
  await berth.run('deleteWatch', { watch: id })
})

test('a watch that rents stops at its limit of machines, across a restart, and pauses', async () => {
  const created = everCreated(world)
  const request = await requestForCheapest()
  const price = request.search.filter.priceTo ?? 0
  const secret = { name: 'TOKEN', value: 'hunter2-hunter2', secret: true }
  const openRequest = {
    image: 'pytorch/pytorch',
    access: 'none',
    disk: 20,
    env: [secret],
    ports: [],
  } as const
  const limits = { attempts: 2, ceiling: 1, deadline: 3600, price }
  const id = await berth.run('saveWatch', {
    request: {
      ...request,
      rents: { request: { ...openRequest, env: [secret], ports: [] }, limits, most: 2 },
    },
  })
  await berth.until(() => watchOf(id).rented > 0)
  berth = await world.restart(berth)
  await berth.until(() => watchOf(id).paused)
  await world.sim.controls.advance(600)
  await berth.run('refresh', {})
  expect(watchOf(id)).toMatchObject({ rented: 2, paused: true, rents: { request: { env: [{ value: '' }] } } })
  expect(everCreated(world) - created).toBe(2)
  expect(instancesOf(berth).filter(({ state }) => state === 'running')).toHaveLength(2)
  await expect.poll(() => alertsOf(id).at(-1)?.title).toBe('The watch “Bargains” is done')
  expect(JSON.stringify(berth.berth.state())).not.toContain('hunter2')
  await berth.run('deleteWatch', { watch: id })
  expect([...world.keychain.entries.values()].join()).not.toContain('hunter2')
})

test('an empty registry token in a change keeps the old one, for the same user only', async () => {
  const { search, ...request } = await requestForCheapest()
  const registry = { server: 'ghcr.io', user: 'ada', token: 'hunter2-hunter2' }
  const limits = { attempts: 2, ceiling: 1, deadline: 3600, price: 1 }
  // At that price nothing is rented.
  const nothing = { ...search, filter: { priceTo: 0.0001 } }
  const save = (login: typeof registry, watch?: string) =>
    berth.run('saveWatch', {
      ...(watch === undefined ? {} : { watch }),
      request: {
        ...request,
        search: nothing,
        rents: {
          request: { image: 'a/b', access: 'none', disk: 20, env: [], ports: [], registry: login },
          limits,
          most: 1,
        },
      },
    })
  const kept = () => [...world.keychain.entries.values()].join()
  const id = await save(registry)
  expect(kept()).toContain('hunter2')
  expect(watchOf(id).rents?.request.registry).toEqual({ ...registry, token: '' })
  await save({ ...registry, token: '' }, id)
  expect(kept()).toContain('hunter2')
  await save({ ...registry, user: 'bob', token: '' }, id)
  expect(kept()).not.toContain('hunter2')
})

test('a watch whose search failed searches again and clears its problem', async () => {
  await world.sim.controls.setFaults([{ method: 'POST', path: '.*', kind: 'status', status: 500, times: 4 }])
  const id = await berth.run('saveWatch', {
    request: await requestForCheapest().catch(() => requestForCheapest()),
  })
  await berth.until(() => watchOf(id).searchedAt !== undefined)
  await world.sim.controls.setFaults([])
  await berth.run('searchWatch', { watch: id })
  await berth.until(() => watchOf(id).problem === undefined && watchOf(id).matching > 0)
})
