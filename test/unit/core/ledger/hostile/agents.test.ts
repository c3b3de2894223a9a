import { expect, test } from 'vitest'
import { micros } from '#shared/spending/money.ts'
import { type Spender, spenderOf } from '#shared/spending/spender.ts'
import { drawsOf } from '#test/unit/core/runs/worlds/world.ts'
import { agents, caps, openWorld } from './world.ts'

/** The number of hostile calls; BERTH_CALLS sets it. */
const wanted = Number(process.env['BERTH_CALLS'] ?? 300)
const first = Number(process.env['BERTH_SEED'] ?? 1)
const perHistory = 100

const query = { type: 'on-demand', verifiedOnly: false, storage: 10, limit: 30 } as const
const request = (offer: number, more: object = {}) => ({
  ...{ offer, image: 'pytorch/pytorch', access: 'ssh', disk: 10, env: [], ports: [], ...more },
})

/** Commands that no agent has, by which one would lift its caps or touch what is yours. */
const forbidden: readonly (readonly [string, object])[] = [
  ['changeSettings', { settings: { spenders: [] } }],
  ['stopEverything', {}],
  ['stopAgents', {}],
  ['removeAccount', { account: 'a00000001' }],
  ['saveSecret', { name: 'HF_TOKEN', value: 'x' }],
  ['setLimit', { action: 'destroy', when: { kind: 'duration', seconds: 60 } }],
  ['rentWithRetries', {}],
  ['destroyVolume', { volume: 1 }],
]

interface Counted {
  calls: number
  refused: Map<string, number>
  rented: number
  kills: number
  stops: number
}

async function history(seed: number, counted: Counted): Promise<string[]> {
  const draw = drawsOf(seed)
  const chance = (share: number) => draw() < share
  const upTo = (most: number) => Math.floor(draw() * most)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[upTo(items.length)]
  const world = await openWorld(draw)
  const { wrongs, story } = world
  await world.poll(1)
  // A machine of yours, which none of them may touch.
  await world.call('searchOffers', { query })
  const mine = world.service.offers()[0] ?? 0
  await world.call('rent', { request: request(mine) })
  await world.poll(60)
  world.begin()

  async function call(by: Spender, name: string, args: object): Promise<unknown> {
    counted.calls += 1
    const { answer, problem } = await world.call(name, args, by)
    if (!problem) return answer
    const limit = problem.refusal?.limit
    if (limit !== undefined) counted.refused.set(limit, (counted.refused.get(limit) ?? 0) + 1)
    else if (problem.code === 'over_cap' || problem.code === 'not_permitted')
      wrongs.push(`${name} was refused without a limit: ${problem.message}`)
    return undefined
  }

  /** A request for some offer, mostly a cheap one, whose price may have jumped since it was listed. */
  function rental(other: number | undefined): object {
    const cheap = chance(0.8) ? micros(caps.price) : Number.POSITIVE_INFINITY
    const offer = pick(world.service.world.market.all().filter(({ price }) => price < cheap))
    if (offer && chance(0.2)) Object.assign(offer, { price: Math.round(offer.price * (1 + 2 * draw())) })
    const when = { kind: 'duration', seconds: 360 }
    const limits = chance(0.5) ? [{ when, action: 'destroy', asleep: false }] : undefined
    const replaces = chance(0.05) ? other : undefined
    return { request: request(offer?.facts.id ?? 1, { limits }), replaces }
  }

  async function hostile(by: Spender): Promise<void> {
    const kind = draw()
    const machine = pick(world.machines())
    if (kind < 0.15) await call(by, 'searchOffers', { query })
    else if (kind < 0.55) {
      if (chance(0.7)) await call(by, 'searchOffers', { query })
      const times = chance(0.1) ? 20 : chance(0.3) ? 3 : 1
      await Promise.all(Array.from({ length: times }, () => call(by, 'rent', rental(machine?.id))))
    } else if (kind < 0.65) {
      const [name, args] = pick(forbidden) ?? ['changeSettings', {}]
      const before = counted.refused.get('permission') ?? 0
      await call(by, name, args)
      if (counted.refused.get('permission') === before && !world.berth.isDead)
        wrongs.push(`${name} was not refused to ${by}`)
    } else if (kind < 0.68) {
      // A page told it to destroy everything.
      for (const { id } of world.machines()) await end(by, 'destroyInstance', id)
    } else if (machine && kind < 0.85)
      await end(by, pick(['destroyInstance', 'stopInstance', 'startInstance'] as const) ?? '', machine.id)
    else if (machine && kind < 0.9) await call(by, 'changeBid', { instance: machine.id, price: 3 * draw() })
    else {
      const rental = pick(Object.keys(world.berth.view()?.rentals ?? {}))
      if (rental === undefined) return
      const payer = world.payerOfRental(rental)
      if (payer === by) world.gaveUpRental(rental)
      await call(by, 'cancelRental', { rental })
    }
  }

  async function end(by: Spender, name: string, instance: number): Promise<void> {
    if (name === 'destroyInstance' && world.payerOf(instance) === by) world.gaveUp(instance)
    await call(by, name, { instance })
  }

  const until = counted.calls + perHistory
  while (counted.calls < until && wrongs.length === 0) {
    if (chance(0.15)) world.killAfter(1 + upTo(30))
    if (chance(0.03)) world.setClock(chance(0.7) ? -1 : 1)
    if (chance(0.1)) {
      const one = pick(world.machines().filter(({ id }) => world.payerOf(id) !== undefined))
      if (one) one.price = Math.round(one.price * (0.5 + 2 * draw()))
    }
    await Promise.all(agents.map(name => hostile(spenderOf('agent', name))))
    world.check()
    if (chance(0.05)) {
      world.gaveUpRentals()
      const { answer } = await world.call('stopAgents', {})
      if (answer !== undefined && !world.berth.isDead) {
        counted.stops += 1
        world.stopped()
        for (let poll = 0; poll < 4 && !world.berth.isDead; poll += 1) {
          await Promise.all(agents.map(name => hostile(spenderOf('agent', name))))
          await world.poll(20)
        }
      }
      await world.permitAgain()
    }
    const polls = chance(0.15) ? 20 : 1
    for (let poll = 0; poll < polls; poll += 1)
      await world.poll(polls > 1 ? 240 : chance(0.1) ? 1800 * draw() : 5 + 55 * draw())
  }
  counted.kills += story.filter(what => what === 'killed').length
  counted.rented += world.rented()
  return wrongs.map(wrong => `seed ${seed}: ${wrong}`)
}

test('five hostile agents at once pass no cap by more than a poll, and end only what they rented', {
  timeout: 60_000 + wanted * 100,
}, async () => {
  const counted: Counted = { calls: 0, refused: new Map(), rented: 0, kills: 0, stops: 0 }
  const wrongs: string[] = []
  for (let seed = first; counted.calls < wanted && wrongs.length === 0; seed += 1)
    wrongs.push(...(await history(seed, counted)))
  expect(wrongs).toEqual([])
  // Calls that never met a limit would show nothing.
  const rare = wanted < 5000 ? [] : ['day']
  for (const limit of ['price', 'hour', 'machines', 'ownership', 'permission', ...rare])
    expect(counted.refused.get(limit) ?? 0, limit).toBeGreaterThan(0)
  expect(counted.rented).toBeGreaterThan(wanted / 100)
  expect(counted.kills).toBeGreaterThan(0)
})
