import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HandClock } from '../../hand-clock.ts'
import { MemoryFiles } from '../../memory-files.ts'
import { startOne } from './one-berth.ts'
import { type Fate, PlainWorld, perSecond } from './plain-world.ts'

/** Generated histories; BERTH_HISTORIES asks for more. */
const histories = Number(process.env['BERTH_HISTORIES'] ?? 400)

const fate = fc.constantFrom<Fate>('good', 'exited', 'offline', 'unknown', 'stuck', 'shut', 'gone', 'outbid')

type Event =
  | { do: 'poll' | 'blind poll' | 'kill' | 'cancel' | 'turn' }
  | { do: 'pass'; seconds: number }
  | { do: 'set the clock back'; seconds: number }
  | { do: 'spoil'; what: 'create' | 'destroy' | 'search'; how: 'lost' | 'unanswered' | 'late' }

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Event>({ do: 'poll' }) },
  { weight: 2, arbitrary: fc.constant<Event>({ do: 'turn' }) },
  { weight: 1, arbitrary: fc.constant<Event>({ do: 'blind poll' }) },
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
    outbid: 'outbid',
  }
  const codes: string[] = []
  const blamed: number[] = []
  for (const [at, each] of fates.slice(0, most).entries()) {
    if (each === 'good') return { step: 'ready', codes, blamed, left: 1 }
    codes.push(why[each])
    // A gone offer or a higher bid is not the machine’s fault.
    if (each !== 'gone' && each !== 'outbid') blamed.push(500 + at)
  }
  return { step: 'failed', codes, blamed, left: 0 }
}

/** Seconds until an attempt must run. */
const deadline = 1800
/** Seconds between polls after the events. */
const interval = 20

/** Plays a history and gives its outcome. `ceiling` in dollars. */
async function live(
  fates: readonly Fate[],
  { attempts: most, ceiling = 10 }: { attempts: number; ceiling?: number },
  events: readonly Event[],
  cancelAt?: number,
) {
  const clock = new HandClock()
  const files = new MemoryFiles()
  const world = new PlainWorld(fates, () => clock.monotonic() / 1000)
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
  const id = await berth.attempts.start({
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
    limits: { attempts: most, ceiling, deadline },
  })
  let cancelled = false

  async function happen(now: Event): Promise<void> {
    switch (now.do) {
      case 'poll':
        return berth.poll(true)
      case 'blind poll':
        return berth.poll(false)
      case 'turn':
        await Promise.resolve()
        return
      case 'kill':
        berth.kill()
        berth = await startOne(machine)
        return
      case 'cancel':
        cancelled = await berth.attempts.cancel(id).then(
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
  // From here on the service has no faults, and Berth polls until all has settled.
  for (const faults of Object.values(world.faults)) faults.length = 0
  const hasEnded = () => berth.attempts.find(id)?.step !== 'trying'
  for (let round = 0, calm = 0; round < 400 && calm < 4; round += 1) {
    if (hasEnded()) calm += 1
    berth.poll(true)
    await clock.pass(interval * 1000)
  }
  const end = berth.attempts.find(id)
  return { end, world, cancelled, blamed: berth.blamed(), keychain: machine.keychain }
}

test(`${histories} histories of answers, faults, kills and polls end as the plain model says`, {
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
        const { end, world, cancelled, blamed, keychain } = await live(
          fates,
          { attempts: most },
          events,
          cancelAt,
        )
        expect(world.wrongs).toEqual([])
        expect([...keychain]).toEqual([])
        const model = expected(fates, most)
        const codes = end?.attempts.flatMap(({ drop }) => (drop ? [drop.why.code] : []))
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
        expect(model.blamed).toEqual(expect.arrayContaining(blamed))
        // A kill between the drop and its record leaves a machine unblamed.
        if (!events.some(each => each.do === 'kill')) expect(blamed).toEqual(model.blamed)
        expect([...world.rented.keys()]).toEqual(model.left === 1 ? [end?.instance] : [])
      },
    ),
    { numRuns: histories },
  )
  expect(Object.values(seen).every(count => count > histories / 50)).toBe(true)
})

test('over histories of kills no series costs more than its ceiling plus one poll', async () => {
  const quiet = fc.constantFrom<Event>({ do: 'poll' }, { do: 'turn' }, { do: 'kill' })
  const attemptCosts = deadline * perSecond
  const onePoll = interval * perSecond
  const ends = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Fate>('stuck', 'shut'), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 2, max: 8 }).map(tenths => tenths / 10),
      fc.array(quiet, { maxLength: 12 }),
      async (fates, whole, part, events) => {
        const ceiling = Math.round((whole + part) * attemptCosts)
        const { end, world } = await live(fates, { attempts: 4, ceiling: ceiling / 1_000_000 }, events)
        const spent = end?.attempts.reduce((sum, { cost }) => sum + (cost ?? 0), 0) ?? 0
        // It counts what is charged, plus up to one poll for each attempt, since it sees the end that late.
        expect(spent).toBeGreaterThanOrEqual(world.paid - 1)
        expect(spent).toBeLessThanOrEqual(world.paid + (end?.attempts.length ?? 0) * onePoll)
        expect(world.rented.size).toBe(0)
        const reached = whole < fates.length
        ends.add(`${end?.problem?.code} in ${end?.attempts.length}`)
        expect(end?.problem?.code).toBe(
          reached ? 'ceiling_reached' : fates.length === 4 ? 'tries_used_up' : 'no_offers',
        )
        expect(end?.attempts).toHaveLength(reached ? whole + 1 : fates.length)
        if (reached) expect(spent).toBeGreaterThanOrEqual(ceiling)
        expect(world.paid).toBeLessThanOrEqual(ceiling + onePoll)
      },
    ),
    { numRuns: 100 },
  )
  expect(ends.size).toBeGreaterThan(6)
})
