import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stoppedText } from '#core/ledger/messages.ts'
import { overCaps } from '#core/ledger/step.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { micros } from '#shared/spending/money.ts'
import { spenderOf } from '#shared/spending/spender.ts'
import { instanceView } from '../../views.ts'
import { disk, form, spendingWorld } from './spending-world.ts'

const claude = spenderOf('agent', 'claude')

test('refuses at each cap, and names it with what is left', async () => {
  const world = await spendingWorld([form('claude', { perDay: 10, perHour: 3, machines: 2, price: 2 })])
  expect(await world.ask('claude', micros(2.5))).toMatchObject({
    code: 'over_cap',
    refusal: { limit: 'price', name: 'claude', cap: 2, used: 2.5, left: 0, retry: 'never' },
  })
  expect(await world.ask('claude', micros(1.5), { most: micros(9) })).toBeUndefined()
  await world.poll(10)
  expect(await world.ask('claude', micros(1.6))).toMatchObject({
    refusal: { limit: 'hour', cap: 3, used: 1.5, left: 1.5, retry: 'after_an_end' },
  })
  expect(await world.ask('claude', micros(1.2))).toMatchObject({
    refusal: { limit: 'day', retry: 'after_an_end' },
  })
  world.destroy(2)
  await world.poll(10)
  await world.poll(10)
  expect(await world.ask('claude', micros(0.2))).toBeUndefined()
  expect(await world.ask('claude', micros(0.2))).toBeUndefined()
  expect(await world.ask('claude', micros(0.2))).toMatchObject({
    refusal: { limit: 'machines', cap: 2, used: 2, left: 0, retry: 'after_an_end' },
  })
})

test('a name without a form may spend nothing, and you may always', async () => {
  const world = await spendingWorld([])
  expect(await world.ask('stranger', 1)).toMatchObject({
    code: 'not_permitted',
    refusal: { limit: 'permission', name: 'stranger' },
  })
  expect(
    await world.ledger.reserve({ mark: 'r9', by: undefined, perHour: micros(90), most: undefined }),
  ).toBe(undefined)
})

test('stops the machines of a name at its day’s cap, with their disks until midnight paid for', async () => {
  const world = await spendingWorld([form('claude', { perDay: 10, perHour: 2, machines: 1, price: 2 })])
  expect(await world.ask('claude', micros(2))).toBeUndefined()
  for (let poll = 0; poll < 3000 && !world.machines[0]?.isStopped; poll++) await world.poll(10)
  expect(world.machines[0]?.isStopped).toBe(true)
  expect(world.spent(claude)).toBeGreaterThan(micros(9))
  expect(world.spent(claude)).toBeLessThanOrEqual(micros(10))
  expect(() => world.start(1)).toThrow(/may spend \$10.00 a day/)
})

test('a cap’s message says what happened: spent, or a price that rose so that the day’s disks alone would pass it', () => {
  const cap = form('claude', { perDay: 3, perHour: 20, machines: 1, price: 20 })
  const by = spenderOf('agent', 'claude')
  const noon = 1_699_963_200
  const entry = {
    id: 'r1',
    by,
    instance: 1,
    perHour: 300_000,
    at: noon,
    seenAt: noon,
    seen: 0,
    day: '2023-11-14',
  }
  const told = (spent: number, prices: { pricePerHour: number; diskPricePerHour: number }) => {
    const view = instanceView({
      id: 1,
      state: 'running',
      costPerHour: prices.pricePerHour,
      ...prices,
      spent: { micros: 0, at: noon, perHour: 0 },
    })
    const own = { ...entry, spent, today: spent }
    const [over] = overCaps([own], cap, by, { 1: view }, noon)
    return over && stoppedText(view, cap, over)
  }
  expect(told(3_000_000, { pricePerHour: 300_000, diskPricePerHour: 0 })).toBe(
    'Stopped Instance #1 of claude: it has used up its $3.00 a day',
  )
  expect(told(500_000, { pricePerHour: 6_000_000, diskPricePerHour: 250_000 })).toBe(
    'Stopped Instance #1 of claude: it has spent $0.50 of its $3.00 a day, and its disks cost $3.00 until midnight, after its price rose from $0.300/h to $6.000/h',
  )
  expect(told(500_000, { pricePerHour: 300_000, diskPricePerHour: 10_000 })).toBeUndefined()
})

test('of more machines than a name may have those that came last are stopped, as one that appears late', () => {
  const cap = form('claude', { perDay: 90, perHour: 20, machines: 2, price: 20 })
  const noon = 1_699_963_200
  const entry = { by: spenderOf('agent', 'claude'), perHour: 400_000, spent: 0, day: '2023-11-14', today: 0 }
  const entries = [3, 1, 2].map(instance => ({ ...entry, id: `r${instance}`, instance, at: noon + instance }))
  const spent = { micros: 0, at: noon, perHour: 0 }
  const view = (id: number, state: InstanceState = 'running') =>
    instanceView({ id, state, pricePerHour: 300_000, spent })
  const views = Object.fromEntries([1, 2, 3].map(id => [id, view(id)] as const))
  const stopped = () => overCaps(entries, cap, entry.by, views, noon + 60)
  const [over, ...others] = stopped()
  expect(over).toMatchObject({ instance: 3, cap: 'machines' })
  expect(others).toEqual([])
  expect(over && stoppedText(view(3), cap, over)).toBe(
    'Stopped Instance #3 of claude: it runs more than 2 machines',
  )
  views[3] = view(3, 'stopped')
  expect(stopped()).toEqual([])
})

test('a reservation is released once its request was refused for certain, and held while its answer is lost', async () => {
  const world = await spendingWorld([form('claude', { machines: 1 })])
  await world.ask('claude', micros(0.1), { answer: 'refused' })
  await world.poll(10)
  await world.ask('claude', micros(0.1), { answer: 'lost' })
  await world.poll(10)
  await world.kill()
  expect(await world.ask('claude', micros(0.1))).toMatchObject({ refusal: { limit: 'machines' } })
})

test('a clock that is set back a day brings no day’s cap a second time', async () => {
  const world = await spendingWorld([form('claude', { perDay: 2, perHour: 2, machines: 5, price: 2 })])
  expect(await world.ask('claude', micros(1), { most: micros(1.5) })).toBeUndefined()
  for (let poll = 0; poll < 360; poll++) await world.poll(10)
  world.destroy(1)
  for (let poll = 0; poll < 3; poll++) await world.poll(10)
  expect(world.spent(claude)).toBeGreaterThan(micros(0.9))
  const asked = () => world.ask('claude', micros(1.5), { most: micros(1.5) })
  world.setClock(-86_400)
  expect(await asked()).toMatchObject({ refusal: { limit: 'day' } })
  world.setClock(2 * 86_400)
  expect(await asked()).toBeUndefined()
})

test('a machine that appears after its reservation was released counts from its beginning', async () => {
  const world = await spendingWorld([form('claude')])
  await world.ask('claude', micros(1), { answer: 'refused' })
  world.machines.push({ id: 7, by: claude, mark: 'r1', price: micros(1), isStopped: false, isGone: false })
  for (let poll = 0; poll < 6; poll++) await world.poll(600)
  expect(world.state?.spenders?.[claude]?.today ?? 0).toBe(0)
  world.ledger.found({ mark: 'r1', by: claude, perHour: micros(1) }, 7)
  await world.poll(10)
  world.destroy(7)
  for (let poll = 0; poll < 3; poll++) await world.poll(10)
  expect(world.state?.spenders?.[claude]?.today).toBeGreaterThan(micros(0.8))
})

test('a clock that leaps ahead and back loses nothing that a day has cost, and counts on at once', async () => {
  for (const leap of [20 * 3600, 111_600, 40 * 86_400]) {
    const world = await spendingWorld([form('claude', { perDay: 2000, perHour: 2, machines: 1, price: 2 })])
    const today = () => {
      const { today = 0, reserved = 0 } = world.state?.spenders?.[claude] ?? {}
      return today - reserved
    }
    await world.ask('claude', micros(1))
    const anHour = async () => {
      for (let poll = 0; poll < 60; poll++) await world.poll(60)
    }
    await anHour()
    world.setClock(leap)
    await world.poll(10)
    if (leap > 86_400) await world.kill()
    world.setClock(-leap)
    await world.poll(10)
    const before = today()
    expect(before).toBeGreaterThanOrEqual(world.spent(claude) - 10_000)
    await anHour()
    expect(today() - before).toBeGreaterThanOrEqual(micros(0.98))
  }
})

test('reserves until its time is over, at the price that it has by then', async () => {
  const world = await spendingWorld([form('claude')])
  expect(world.ledger.need(micros(0.3), { most: micros(1.3), seconds: 3600 }).today).toBe(micros(0.3))
  await world.ask('claude', micros(0.3), { most: micros(1.3), seconds: 3600 })
  await world.poll(1)
  const reserved = () => world.state?.spenders?.[claude]?.reserved
  expect(reserved()).toBe(micros(0.3))
  world.setPrice(1, micros(0.6))
  await world.poll(1)
  expect(reserved()).toBe(micros(0.6))
  world.setPrice(1, micros(1.9))
  await world.poll(1)
  expect(reserved()).toBe(micros(1.3))
})

test('machines of a group have their own limits, or one that they share', async () => {
  const caps = { perDay: 100, perHour: 20, machines: 10 }
  const world = await spendingWorld([form('claude', caps), form('other', caps)])
  for (const most of [micros(0.4), micros(0.6)]) {
    await world.ask('claude', micros(0.5), { group: 'nodes', most })
    await world.ask('other', micros(0.5), {
      group: 'sweep',
      most: micros(0.8),
      seconds: 3600,
      isShared: true,
    })
  }
  await world.poll(1)
  const reserved = (name: string) => world.state?.spenders?.[spenderOf('agent', name)]?.reserved
  expect(reserved('claude')).toBe(micros(1))
  expect(reserved('other')).toBe(micros(0.8))
})

test('reserves nothing from the moment on at which the end of a machine is seen', async () => {
  const world = await spendingWorld([form('claude', { machines: 1 })])
  await world.ask('claude', micros(0.1))
  await world.poll(60)
  await world.poll(60)
  world.destroy(1)
  world.ledger.ended(1)
  expect(world.state?.spenders?.[claude]).toMatchObject({ machines: 0, reserved: 0, instances: [] })
  expect(world.state?.spenders?.[claude]?.today).toBeGreaterThan(0)
  expect(await world.ask('claude', micros(0.1))).toBeUndefined()
})

test('owns what it rented, until you start it', async () => {
  const world = await spendingWorld([form('claude'), form('other')])
  await world.ask('claude', micros(0.1))
  await world.poll(10)
  expect(world.ledger.owns(claude, 1)).toBe(true)
  expect(world.ledger.owns(spenderOf('agent', 'other'), 1)).toBe(false)
  expect(world.ledger.owns(claude, 99)).toBe(false)
  await world.ledger.take(1, undefined)
  expect(world.ledger.owns(claude, 1)).toBe(false)
  expect(world.state?.spenders?.[claude]?.instances).toEqual([1])
  await world.poll(10)
  expect(world.state?.spenders?.[claude]?.instances).toEqual([])
})

test('a prepayment counts on its day, is refused by the day’s cap, and is taken back', async () => {
  const nightly = spenderOf('script', 'nightly')
  const world = await spendingWorld([{ ...form('nightly', { perDay: 10 }), kind: 'script' }])
  await world.ledger.pay(nightly, micros(4))
  const today = () => world.state?.spenders?.[nightly]?.today
  world.ledger.show()
  expect(today()).toBe(micros(4))
  await expect(world.ledger.pay(nightly, micros(7))).rejects.toMatchObject({
    problem: { code: 'over_cap', refusal: { limit: 'day', left: 6, retry: 'tomorrow' } },
  })
  await world.ledger.pay(nightly, micros(6))
  await world.kill()
  await expect(world.ledger.pay(nightly, micros(1))).rejects.toMatchObject({
    problem: { refusal: { limit: 'day', left: 0, retry: 'tomorrow' } },
  })
  const other = await spendingWorld([{ ...form('nightly', { perDay: 10 }), kind: 'script' }])
  await (await other.ledger.pay(nightly, micros(6)))()
  await other.ledger.pay(nightly, micros(10))
})

test('a machine of yours that a script starts stays yours', async () => {
  const nightly = spenderOf('script', 'nightly')
  const world = await spendingWorld([form('claude'), { ...form('nightly'), kind: 'script' }])
  await world.ask('claude', micros(0.1))
  await world.poll(10)
  await world.ledger.take(1, undefined)
  await world.ledger.take(1, nightly)
  expect(world.ledger.payer(1)).toBeUndefined()
  world.stop(1)
  await world.poll(10)
  await world.ledger.take(1, nightly)
  expect(world.ledger.payer(1)).toBe(nightly)
  expect(world.ledger.owns(nightly, 1)).toBe(false)
  await world.kill()
  expect(world.ledger.owns(nightly, 1)).toBe(false)
})

const agents = ['a', 'b', 'c', 'd', 'e'] as const
const caps = { perDay: 4, perHour: 2, machines: 3, price: 1 }
const interval = 30

type Step =
  | {
      do: 'ask'
      who: number
      cents: number
      most: number | undefined
      answer: 'created' | 'lost' | 'refused'
    }
  | { do: 'askAtOnce'; who: number; cents: number; times: number }
  | { do: 'poll'; times: number }
  | { do: 'kill' | 'find' }
  | { do: 'price'; which: number; cents: number }
  | { do: 'start' | 'destroy'; which: number }

const which = fc.nat(40)
const who = fc.nat(agents.length - 1)
const cents = fc.integer({ min: 1, max: 120 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('ask' as const),
    who,
    cents,
    most: fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined }),
    answer: fc.constantFrom('created' as const, 'lost' as const, 'refused' as const),
  }),
  fc.record({ do: fc.constant('askAtOnce' as const), who, cents, times: fc.integer({ min: 2, max: 6 }) }),
  fc.record({ do: fc.constant('poll' as const), times: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ do: fc.constantFrom('kill' as const, 'find' as const) }),
  fc.record({ do: fc.constant('price' as const), which, cents: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ do: fc.constantFrom('start' as const, 'destroy' as const), which }),
)

test('five hostile agents at once stay within their caps, but for one poll', async () => {
  const histories = Number(process.env['BERTH_HISTORIES'] ?? 20)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async steps => {
      const world = await spendingWorld(agents.map(name => form(name, caps)))
      /** The dearest that machines ran at between two polls, whatever their price was when they were rented. */
      const slack = micros(((3 * caps.machines * interval) / 3600) * 2)
      function check(): void {
        for (const name of agents) {
          const by = spenderOf('agent', name)
          const own = world.machinesOf(by)
          expect(own.length).toBeLessThanOrEqual(caps.machines)
          const disks = own.length * disk * 24
          expect(world.spent(by)).toBeLessThanOrEqual(micros(caps.perDay) + slack + disks)
        }
      }
      async function pollAll(times: number): Promise<void> {
        for (let poll = 0; poll < times; poll++) {
          // Berth finds an instance whose answer was lost among those of a poll.
          if (poll > 0) world.find()
          await world.poll(interval)
          check()
        }
        for (const name of agents) {
          const running = world.machinesOf(spenderOf('agent', name)).filter(one => !one.isStopped)
          const known = running.filter(({ id }) => world.ledger.owns(spenderOf('agent', name), id))
          expect(known.reduce((sum, { price }) => sum + price, 0)).toBeLessThanOrEqual(micros(caps.perHour))
          for (const { price } of known) expect(price).toBeLessThanOrEqual(micros(caps.price))
        }
      }
      for (const now of steps) {
        const machine = 'which' in now ? world.machines[now.which] : undefined
        if (now.do === 'ask') {
          const { who: index, cents: price, most, answer } = now
          const refused = await world.ask(agents[index] ?? 'a', price * 10_000, {
            answer,
            ...(most !== undefined && { most: most * 10_000 }),
          })
          if (refused) expect(refused.refusal?.limit).toMatch(/^(price|hour|day|machines)$/)
        } else if (now.do === 'askAtOnce')
          await Promise.all(
            Array.from({ length: now.times }, () => world.ask(agents[now.who] ?? 'a', now.cents * 10_000)),
          )
        else if (now.do === 'poll') await pollAll(now.times)
        else if (now.do === 'kill') await world.kill()
        else if (now.do === 'find') world.find()
        else if (machine && now.do === 'price') world.setPrice(machine.id, now.cents * 10_000)
        else if (machine && now.do === 'destroy') world.destroy(machine.id)
        else if (machine && now.do === 'start') {
          try {
            world.start(machine.id)
          } catch (error) {
            expect(String(error)).toMatch(/may|above/)
          }
        }
        check()
      }
      world.find()
      await pollAll(3)
    }),
    { numRuns: histories },
  )
})
