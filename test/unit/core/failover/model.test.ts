import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HandClock } from '../hand-clock.ts'
import { MemoryFiles } from '../memory-files.ts'
import { startOne } from './one-berth.ts'
import { type Fate, PlainWorld } from './plain-world.ts'

/** Generated histories; BERTH_HISTORIES asks for more. */
const histories = Number(process.env['BERTH_HISTORIES'] ?? 2000)

const fate = fc.constantFrom<Fate>('good', 'exited', 'offline', 'unknown', 'stuck', 'shut', 'gone')

type Event =
  | { do: 'look' | 'blind look' | 'kill' | 'cancel' | 'turn' }
  | { do: 'pass'; seconds: number }
  | { do: 'set the clock back'; seconds: number }
  | { do: 'spoil'; what: 'create' | 'destroy' | 'search'; how: 'lost' | 'unanswered' | 'late' }

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Event>({ do: 'look' }) },
  { weight: 2, arbitrary: fc.constant<Event>({ do: 'turn' }) },
  { weight: 1, arbitrary: fc.constant<Event>({ do: 'blind look' }) },
  { weight: 3, arbitrary: fc.constant<Event>({ do: 'kill' }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('set the clock back' as const),
      seconds: fc.integer({ min: 100, max: 9000 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('spoil' as const),
      what: fc.constantFrom('create' as const, 'destroy' as const, 'search' as const),
      how: fc.constantFrom('lost' as const, 'unanswered' as const, 'late' as const),
    }),
  },
)

/** The plain model: machines are tried in their order until one is good, whatever happened on the way. */
function expected(fates: readonly Fate[], most: number) {
  const why: Record<Exclude<Fate, 'good'>, string> = {
    exited: 'crashed',
    offline: 'offline',
    unknown: 'silent',
    stuck: 'late',
    shut: 'no_ssh',
    gone: 'offer_gone',
  }
  const codes: string[] = []
  for (const each of fates.slice(0, most)) {
    if (each === 'good') return { step: 'ready', codes, left: 1 }
    codes.push(why[each])
  }
  return { step: 'failed', codes, left: 0 }
}

/** Lives a history to its end; gives how it ended. */
async function live(
  fates: readonly Fate[],
  most: number,
  events: readonly Event[],
  cancelAt: number | undefined,
) {
  const clock = new HandClock()
  const files = new MemoryFiles()
  const world = new PlainWorld(fates)
  let jump = 0
  let ids = 0
  const machine = {
    world,
    files,
    clock,
    keychain: new Map<string, string>(),
    now: () => clock.monotonic() / 1000 + jump,
    newId: () => (++ids).toString(16).padStart(16, '0'),
  }
  let berth = await startOne(machine)
  const id = await berth.failovers.start({
    search: {
      query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
      filter: {},
      order: { column: 'price', descending: false },
    },
    request: {
      image: 'pytorch/pytorch',
      access: 'ssh',
      disk: 20,
      env: [{ name: 'TOKEN', value: 'secret', secret: true }],
      ports: [],
    },
    limits: { tries: most, ceiling: 10, deadline: 1800 },
  })
  let cancelled = false

  async function happen(now: Event): Promise<void> {
    switch (now.do) {
      case 'look':
        return berth.look(true)
      case 'blind look':
        return berth.look(false)
      case 'turn':
        await Promise.resolve()
        return
      case 'kill':
        berth.kill()
        berth = await startOne(machine)
        return
      case 'cancel':
        cancelled = await berth.failovers.cancel(id).then(
          () => true,
          () => cancelled,
        )
        return
      case 'pass':
        return clock.pass(now.seconds * 1000)
      case 'set the clock back':
        jump -= now.seconds
        return
      case 'spoil':
        world.faults[now.what].push(now.how)
    }
  }

  for (const [at, each] of events.entries()) {
    if (at === cancelAt) await happen({ do: 'cancel' })
    await happen(each)
  }
  // From here on the service is well, and Berth is left alone until nothing more happens.
  for (const faults of Object.values(world.faults)) faults.length = 0
  const settled = () => berth.failovers.find(id)?.step !== 'trying'
  for (let round = 0, calm = 0; round < 400 && calm < 4; round += 1) {
    if (settled()) calm += 1
    berth.look(true)
    await clock.pass(20_000)
  }
  const end = berth.failovers.find(id)
  return { end, world, cancelled, keychain: machine.keychain }
}

test(`${histories} histories of answers, faults, kills and looks end as the plain model says`, {
  timeout: 600_000,
}, async () => {
  const seen = { ready: 0, failed: 0, cancelled: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(event, { maxLength: 24 }),
      fc.option(fc.integer({ min: 0, max: 24 }), { nil: undefined }),
      async (fates, most, events, cancelAt) => {
        const { end, world, cancelled, keychain } = await live(fates, most, events, cancelAt)
        expect(world.wrongs).toEqual([])
        expect([...keychain]).toEqual([])
        const model = expected(fates, most)
        const codes = end?.tries.flatMap(({ drop }) => (drop ? [drop.why.code] : []))
        if (end?.step === 'cancelled' || cancelled) {
          seen.cancelled += 1
          expect(end?.step).toBe('cancelled')
          expect(world.rented.size).toBe(0)
          expect(model.codes.slice(0, codes?.length)).toEqual(codes)
          return
        }
        seen[model.step === 'ready' ? 'ready' : 'failed'] += 1
        expect(end?.step).toBe(model.step)
        expect(codes).toEqual(model.codes)
        expect([...world.rented.keys()]).toEqual(model.left === 1 ? [end?.instance] : [])
      },
    ),
    { numRuns: histories },
  )
  expect(Object.values(seen).every(count => count > histories / 50)).toBe(true)
})
