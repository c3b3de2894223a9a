import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { at } from '#build/places.ts'
import { readEverything } from '#renderer/screens/settings/spenderForm.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { micros } from '#shared/spending/money.ts'
import { drawsOf } from '#test/unit/core/runs/worlds/world.ts'
import { openWorld } from './hostile/world.ts'
import { disk, form, spendingWorld } from './spending-world.ts'

/** Everyone for whom a machine is rented, as the rental’s record names who pays. */
const payers = [
  ['by hand, with retries or for a watch', 'you', {}],
  ['a node of a run, or a run that moves', 'you', { group: 'nodes', most: micros(3) }],
  ['a run of a sweep', 'project:train', { group: 'sweep', most: micros(3), isShared: true }],
  ['a run of a project with caps', 'project:capped', {}],
  ['in the place of an outbid one of a script', 'script:nightly', { seconds: 3600 }],
  ['an agent', 'claude', {}],
] as const
const wide = { perDay: 1000, perHour: 1000, machines: 100, price: 100 }
const forms = [
  form('claude', wide),
  { ...form('nightly', wide), kind: 'script' as const },
  { ...form('capped', wide), kind: 'project' as const },
]

test.each(payers)('the caps over everything hold for %s', async (_, name, bounds) => {
  const world = await spendingWorld(forms, { perHour: 2, machines: 3 })
  expect(await world.ask('you', micros(0.5))).toBeUndefined()
  expect(await world.ask('claude', micros(0.9))).toBeUndefined()
  await world.poll(10)
  expect(await world.ask(name, micros(0.7), bounds)).toMatchObject({
    code: 'over_cap',
    advice: 'End a machine, or raise the cap on everything in Settings, Agents and scripts.',
    refusal: { limit: 'hour', name: 'everything', cap: 2, used: 1.4, left: 0.6, retry: 'after_an_end' },
  })
  expect(await world.ask(name, micros(2.1), bounds)).toMatchObject({
    refusal: { limit: 'hour', retry: 'never' },
  })
  expect(await world.ask(name, micros(0.6), bounds)).toBeUndefined()
  expect(await world.ask(name, 0, bounds)).toMatchObject({
    message: 'All together, there may be 3 machines at a time, and there are 3.',
    refusal: { limit: 'machines', cap: 3, used: 3, left: 0 },
  })
  world.cap({ perHour: null, machines: null })
  expect(await world.ask(name, micros(5), bounds)).toBeUndefined()
})

test('machines that were rented elsewhere count, and one whose end was seen doesn’t', async () => {
  const world = await spendingWorld([], { perHour: 2, machines: null })
  world.machines.push({ id: 90, by: 'you', mark: '', price: micros(1.5), isStopped: false, isGone: false })
  await world.poll(10)
  expect(world.state?.everything).toEqual({ perHour: micros(1.5), machines: 1 })
  expect(await world.ask('you', micros(1))).toMatchObject({ refusal: { limit: 'hour', used: 1.5 } })
  world.destroy(90)
  world.ledger.ended(90)
  expect(await world.ask('you', micros(1))).toBeUndefined()
})

test('a start needs room for what it adds, also of several at once, and nothing that runs is stopped', async () => {
  const world = await spendingWorld([], { perHour: 2, machines: 3 })
  for (const price of [0.9, 0.8, 0.2]) await world.ask('you', micros(price))
  for (const id of [1, 2]) world.stop(id)
  await world.poll(10)
  expect(world.state?.everything).toEqual({ perHour: micros(0.2) + 2 * disk, machines: 3 })
  world.cap({ perHour: 1.5, machines: 1 })
  world.start(1)
  await expect(async () => world.start(2)).rejects.toThrow(/may cost \$1\.500\/h/)
  await expect(world.ledger.take(2, undefined)).rejects.toThrow(/may cost/)
  // Asked for already.
  world.start(1)
  await world.poll(10)
  world.cap({ perHour: 0.1, machines: 0 })
  await world.poll(10)
  expect(world.machines.map(({ isStopped }) => isStopped)).toEqual([false, true, false])
  expect(() => world.ledger.mayCost(1, 0.5)).not.toThrow()
  expect(() => world.ledger.mayCost(1, 1.1)).toThrow(BerthError)
})

test('rentals by hand past a cap ask the service for nothing, and say what to do', async () => {
  const world = await openWorld(drawsOf(1), { everything: { perHour: null, machines: 1 } })
  await world.poll(1)
  await world.call('searchOffers', {
    query: { type: 'on-demand', verifiedOnly: false, storage: 10, limit: 30 },
  })
  const [first = 0, second = 0] = world.service.offers()
  for (const offer of [first, second])
    await world.call('rent', {
      request: { offer, image: 'pytorch/pytorch', access: 'ssh', disk: 10, env: [], ports: [] },
    })
  await world.poll(60)
  expect(world.machines()).toHaveLength(1)
  const problems = Object.values(world.berth.view()?.rentals ?? {}).flatMap(({ problem }) => problem ?? [])
  expect(problems).toEqual([
    expect.objectContaining({ code: 'over_cap', advice: expect.stringContaining('raise the cap') }),
  ])
})

test('whatever is asked for at once, by whom and with which answers, all together stay within the caps', async () => {
  const asked = fc.record({
    who: fc.constantFrom('you', 'claude', 'script:nightly', 'project:train'),
    cents: fc.integer({ min: 1, max: 150 }),
    answer: fc.constantFrom('created' as const, 'lost' as const, 'refused' as const),
  })
  const step = fc.oneof(
    fc.record({ do: fc.constant('ask' as const), all: fc.array(asked, { minLength: 1, maxLength: 5 }) }),
    fc.record({
      do: fc.constantFrom('start' as const, 'stop' as const, 'destroy' as const),
      which: fc.nat(12),
    }),
    fc.record({ do: fc.constantFrom('poll' as const, 'kill' as const, 'find' as const) }),
  )
  const most = { perHour: 3, machines: 4 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async steps => {
      const world = await spendingWorld(forms, most)
      for (const now of steps) {
        if (now.do === 'ask')
          await Promise.all(
            now.all.map(({ who, cents, answer }) => world.ask(who, cents * 10_000, { answer })),
          )
        else if (now.do === 'poll') await world.poll(30)
        else if (now.do === 'kill') await world.kill()
        else if (now.do === 'find') world.find()
        else if (now.do === 'start') {
          try {
            world.start(now.which)
          } catch (error) {
            expect((error as { problem?: Problem }).problem?.refusal).toBeDefined()
          }
        } else if ('which' in now) world[now.do](now.which)
        const there = world.machines.filter(({ isGone }) => !isGone)
        const perHour = there.reduce((sum, { price, isStopped }) => sum + (isStopped ? disk : price), 0)
        expect(there.length).toBeLessThanOrEqual(most.machines)
        expect(perHour).toBeLessThanOrEqual(micros(most.perHour))
      }
    }),
    { numRuns: Number(process.env['BERTH_HISTORIES'] ?? 20) },
  )
})

test('all rentals ask in one place, after the ledger, and all starts and bids go through the client that asks it', () => {
  const core = readdirSync(at('electron/core'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => ({ file, text: readFileSync(at(`electron/core/${file}`), 'utf8') }))
  const withWords = (words: string) => core.filter(({ text }) => text.includes(words)).map(({ file }) => file)
  expect(withWords('.createInstance(')).toEqual(['renting/create.ts'])
  const { text: creation = '' } = core.find(({ file }) => file === 'renting/create.ts') ?? {}
  const [reserved, asked] = [creation.indexOf('ledger.reserve('), creation.indexOf('.createInstance(')]
  expect(reserved).toBeGreaterThan(0)
  expect(asked).toBeGreaterThan(reserved)
  // The other one only tries a new key.
  expect(withWords('createClient({').sort()).toEqual(['accounts/accounts.ts', 'accounts/keyed-client.ts'])
})

test('an empty field is no cap, and anything else a number', () => {
  expect(readEverything({ perHour: ' ', machines: '' }).value).toEqual({ perHour: null, machines: null })
  expect(readEverything({ perHour: '$2.50', machines: '3' }).value).toEqual({ perHour: 2.5, machines: 3 })
  expect(readEverything({ perHour: 'much', machines: '1.5' }).errors).toEqual({
    perHour: 'Enter an amount.',
    machines: 'Enter a whole number.',
  })
})
