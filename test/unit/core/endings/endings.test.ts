import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sightOf, untilUrgent } from '#core/endings/step.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { EndingWorld, type Lie } from './ending-world.ts'

const user = { kind: 'user' } as const
const berth = { kind: 'berth', text: 'Berth did it' } as const

test('a stop is requested again until the list and the instance itself show it', async () => {
  const world = await EndingWorld.start()
  world.lies.push('accepted', 'accepted')
  const seen = world.endings.end(7, 'stop', user).then(() => 'seen')
  await world.pass(4)
  expect([world.requests, world.endings.pending(7)?.action]).toEqual([['stop 7'], 'stop'])
  await world.pass(30)
  expect(world.requests).toEqual(['stop 7', 'stop 7', 'stop 7'])
  expect(await seen).toBe('seen')
  expect(world.told).toEqual(['Stopped Instance #7'])
  expect(world.shown()).toEqual({})
})

test('what the user stops is requested even if it seems to be stopped, and what Berth stops is not', async () => {
  const world = await EndingWorld.start()
  world.states.set(7, 'stopped')
  await world.pass(6)
  void world.endings.begin(7, 'stop', berth)
  await world.pass(6)
  expect([world.requests, world.shown(), world.told]).toEqual([[], {}, []])
  void world.endings.begin(7, 'stop', user)
  await world.pass(6)
  expect([world.requests, world.told]).toEqual([['stop 7'], ['Stopped Instance #7']])
})

test('a list that shows it is not believed while the instance’s own record differs', async () => {
  const world = await EndingWorld.start()
  world.lies.push('accepted')
  world.listLies = true
  void world.endings.begin(7, 'stop', user)
  await world.pass(3)
  expect([world.told, world.shown()[7]?.phase]).toEqual([[], 'requested'])
  world.listLies = false
  await world.pass(30)
  expect(world.told).toEqual(['Stopped Instance #7'])
})

test.each<Lie>(['404', 'accepted', 'error', 'refused'])(
  'an answer “%s” to every request leads to an alert, and to no “destroyed”',
  async lie => {
    const world = await EndingWorld.start()
    world.always = lie
    void world.endings.begin(7, 'destroy', { kind: 'berth', text: 'Destroyed it' })
    await world.pass(600)
    expect(world.told).toEqual(['Instance #7 isn’t destroyed yet'])
    expect(world.shown()[7]?.phase).toBe('urgent')
    world.always = undefined
    await world.pass(120)
    expect(world.told.slice(1)).toEqual(['Destroyed it', 'Instance #7 is destroyed'])
    expect(world.shown()).toEqual({})
  },
)

test('the alert that an ending lasts comes after one to three minutes, sooner for a dear machine, however often it was asked', async () => {
  const alertedAfter = (costPerHour: number | undefined, isTaken = false) =>
    untilUrgent({ requests: 2, isTaken, lasted: 0, costPerHour }) / 1000
  expect([3000, 400_000, 2_000_000, 30_000_000, undefined].map(cost => alertedAfter(cost))).toEqual([
    180, 180, 90, 60, 60,
  ])
  expect(alertedAfter(2_000_000, true)).toBe(180)
  for (const lie of ['error', 'accepted'] as const) {
    const world = await EndingWorld.start()
    world.always = lie
    void world.endings.begin(7, 'stop', berth)
    await world.pass(178)
    expect(world.told).toEqual([])
    await world.pass(4)
    expect(world.told).toEqual(['Instance #7 isn’t stopped yet'])
  }
})

test('a machine whose destroy has no effect is stopped meanwhile, and destroyed once it can be', async () => {
  const world = await EndingWorld.start()
  world.keeps = true
  void world.endings.begin(7, 'destroy', { kind: 'user' }).catch(() => undefined)
  await world.pass(60)
  expect(world.states.get(7)).toBe('stopped')
  expect(world.requests.filter(request => request === 'stop 7')).toHaveLength(1)
  world.keeps = false
  await world.pass(600)
  expect(world.states.has(7)).toBe(false)
  expect(world.falselySaid).toEqual([])
})

test('Activity says why Berth ended an instance, unless someone else tells of it', async () => {
  const world = await EndingWorld.start()
  void world.endings.begin(7, 'stop', { kind: 'berth', isTold: true })
  await world.pass(6)
  expect([world.requests, world.told]).toEqual([['stop 7'], []])
  void world.endings.begin(7, 'destroy', berth)
  await world.pass(6)
  expect([world.requests, world.told]).toEqual([['stop 7', 'destroy 7'], ['Berth did it']])
})

test('goes on after a kill, without a new request where a reading shows it', async () => {
  const world = await EndingWorld.start()
  world.always = 'lost'
  world.answers = false
  void world.endings.begin(7, 'destroy', user)
  await world.settle()
  world.kill()
  await world.restart()
  world.answers = true
  expect(world.shown()[7]?.action).toBe('destroy')
  await world.pass(10)
  expect([world.requests, world.told]).toEqual([['destroy 7'], ['Destroyed Instance #7']])
})

test('an instance that was gone and is listed again is destroyed again', async () => {
  const world = await EndingWorld.start()
  world.hidden = true
  world.always = '404'
  void world.endings.begin(7, 'destroy', user)
  await world.pass(10)
  expect(world.told).toEqual(['Destroyed Instance #7'])
  world.hidden = false
  world.always = undefined
  await world.pass(30)
  expect(world.states.has(7)).toBe(false)
  expect(world.told.at(1)).toBe('Instance #7 is listed again, so Berth destroys it again')
})

test('one that was stopped and runs again is stopped again, also after a kill, but not once it was started', async () => {
  const world = await EndingWorld.start()
  void world.endings.begin(7, 'stop', user)
  await world.pass(10)
  expect([world.requests, world.shown()]).toEqual([['stop 7'], {}])
  world.kill()
  await world.restart()
  // Its host has restarted, and its container with it.
  world.states.set(7, 'stopping')
  await world.pass(10)
  expect([world.requests, world.states.get(7)]).toEqual([['stop 7', 'stop 7'], 'stopped'])
  expect(world.told).toContain('Instance #7 runs again though it was stopped, so Berth stops it again')
  // Its user starts it on the website, and stops it there later.
  world.states.set(7, 'running')
  await world.pass(10)
  world.states.set(7, 'stopping')
  await world.pass(60)
  expect(world.requests).toHaveLength(2)
  expect(world.shown()).toEqual({})
})

test('a destroy takes the place of a stop, and a start cancels a stop', async () => {
  const world = await EndingWorld.start()
  world.always = 'accepted'
  const stop = world.endings.end(7, 'stop', user).catch((error: Error) => error.message)
  await world.pass(5)
  await world.endings.startInstead(7, async () => undefined)
  expect(await stop).toBe('It was started again instead.')
  void world.endings.begin(7, 'stop', user)
  await world.settle()
  void world.endings.begin(7, 'destroy', user)
  world.always = undefined
  await world.pass(20)
  expect(world.states.has(7)).toBe(false)
  expect(world.told).toEqual(['Destroyed Instance #7'])
})

test('a user whose key lacks the permission is told at once, and nothing is repeated', async () => {
  const world = await EndingWorld.start()
  world.always = 'refused'
  await expect(world.endings.request(7, 'stop')).rejects.toMatchObject({ problem: { code: 'forbidden' } })
  await world.pass(300)
  expect([world.requests, world.shown()]).toEqual([['stop 7'], {}])
})

test('another key asks again at once', async () => {
  const world = await EndingWorld.start()
  world.always = 'refused'
  void world.endings.begin(7, 'destroy', berth)
  await world.pass(300)
  world.always = undefined
  await world.pass(10)
  expect(world.states.has(7)).toBe(true)
  world.endings.keyChanged()
  await world.pass(5)
  expect(world.states.has(7)).toBe(false)
})

test('a stop is requested for an instance that crashed, which is still meant to run', () => {
  expect(sightOf({ action: 'stop', requests: 0 }, { state: 'crashed', isGone: false })).toBe('open')
  expect(sightOf({ action: 'stop', requests: 1 }, { state: 'unstartable', isGone: false })).toBe('seen')
  expect(sightOf({ action: 'stop', requests: 1 }, { state: 'stopped', isGone: false })).toBe('seen')
})

/** What the service, the computer and time do next. */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 90 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      lie: fc.constantFrom<Lie>('404', 'accepted', 'error', 'refused', 'lost', 'unsent'),
    }),
  },
  { weight: 1, arbitrary: fc.constant('kill' as const) },
  { weight: 1, arbitrary: fc.record({ hidden: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ listLies: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ answers: fc.boolean() }) },
)

test('whatever is answered, what Berth says has ended has ended, and in the end it has', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('stop' as const, 'destroy' as const),
      fc.array(happening, { maxLength: 14 }),
      async (action, history) => {
        const world = await EndingWorld.start()
        // A user whose key may not do it is told, and nothing goes on.
        const text = action === 'stop' ? 'Stopped it' : 'Destroyed it'
        void world.endings.begin(7, action, { kind: 'berth', text })
        await flushPromises()
        for (const next of history) {
          if (next === 'kill') {
            world.kill()
            await world.restart()
          } else if ('pass' in next) await world.pass(next.pass)
          else if ('lie' in next) world.lies.push(next.lie)
          else if ('hidden' in next) world.hidden = next.hidden
          else if ('listLies' in next) world.listLies = next.listLies
          else world.answers = next.answers
          // A list and a record that both hide it cannot be told from its end; nothing else may pass for one.
          if (world.falselySaid.length > 0) throw new Error(`said too early: ${world.falselySaid}`)
        }
        Object.assign(world, { hidden: false, listLies: false, answers: true, lies: [] })
        await world.pass(400)
        expect(world.states.get(7)).toBe(action === 'stop' ? 'stopped' : undefined)
        expect(world.shown()).toEqual({})
        expect(world.told.some(text => /^(Stopped|Destroyed) /.test(text))).toBe(true)
      },
    ),
    { numRuns: 80 },
  )
}, 60_000)

test('a stop that a start took back is not repeated after a kill, at whatever moment that comes', async () => {
  for (const moment of ['before the start', 'while it starts', 'after it'] as const) {
    const world = await EndingWorld.start()
    world.always = 'accepted'
    world.endings.end(7, 'stop', user).catch(() => undefined)
    await world.pass(2)
    const started: string[] = []
    const start = async () => {
      started.push('start')
      if (moment === 'while it starts') await new Promise(() => undefined)
    }
    void world.endings.startInstead(7, start)
    while (moment !== 'before the start' && started.length === 0) await flushPromises()
    await flushPromises()
    world.kill()
    world.requests.length = 0
    await world.restart()
    await world.pass(30)
    if (started.length > 0) expect([moment, world.requests]).toEqual([moment, []])
  }
})

test('nothing is started while its stop cannot be taken back on disk, and a refused start leaves the stop', async () => {
  const world = await EndingWorld.start()
  world.always = 'accepted'
  world.endings.end(7, 'stop', user).catch(() => undefined)
  await world.pass(2)
  const started: string[] = []
  world.files.refusing = 'ENOSPC'
  await expect(world.endings.startInstead(7, async () => started.push('start'))).rejects.toThrow()
  expect([started, world.endings.pending(7)?.action]).toEqual([[], 'stop'])
  world.files.refusing = undefined
  await expect(world.endings.startInstead(7, () => Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  )
  expect(world.endings.pending(7)?.action).toBe('stop')
})

test('a destroy that takes the place of a stop just as that is seen is requested, and not told as done', async () => {
  const world = await EndingWorld.start()
  const told: string[] = []
  void world.endings.end(7, 'stop', berth).catch(() => undefined)
  world.onRecord = () => {
    world.onRecord = () => undefined
    void world.endings.end(7, 'destroy', berth).then(() => told.push('destroyed'))
    told.push(world.states.get(7) ?? 'gone')
  }
  await world.pass(60)
  expect(told).toEqual(['stopped', 'destroyed'])
  expect(world.requests).toContain('destroy 7')
  expect(world.states.has(7)).toBe(false)
})
