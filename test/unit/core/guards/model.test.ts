import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import { guardActions, type Sight } from '../../../../electron/core/guards/decide/guard-actions.ts'
import { dueOf, type Facts } from '../../../../electron/core/guards/decide/moment.ts'
import { calmed, type Guard } from '../../../../electron/core/guards/guard.ts'
import { after, held, missed, over, warned } from '../../../../electron/core/guards/outcomes.ts'
import { instanceView } from '../views.ts'
import { PlainGuard, type PlainInstance, rateOf, type Said, type Seen } from './plain-model.ts'

const start = 1_000_000
const endless = Number.MAX_SAFE_INTEGER

/** What happens in the world between two moments of a history. */
type Event =
  | { kind: 'look'; wait: number; answers: boolean }
  | { kind: 'sleep'; wait: number }
  | { kind: 'load'; id: number; load: number }
  | { kind: 'start'; id: number }
  | { kind: 'topUp'; credit: number }
  | { kind: 'snooze'; minutes: number }

const id = fc.integer({ min: 1, max: 3 })
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('look'),
      wait: fc.integer({ min: 1, max: 400 }),
      answers: fc.constant(true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('look'),
      wait: fc.integer({ min: 1, max: 900 }),
      answers: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('sleep'), wait: fc.integer({ min: 300, max: 20_000 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('load'), id, load: fc.constantFrom(0, 3, 5, 50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('start'), id }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('topUp'), credit: fc.integer({ min: 0, max: 5_000_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snooze'), minutes: fc.constantFrom(15, 60) }) },
) as fc.Arbitrary<Event>

const span = fc.integer({ min: 1, max: 60 }).map(minutes => minutes * 60)
const limit = fc.integer({ min: 1, max: 3_000_000 })
const onInstance: fc.Arbitrary<Guard['condition']> = fc.oneof(
  fc.record({ kind: fc.constant('time' as const), at: fc.integer({ min: start + 1, max: start + 8000 }) }),
  fc.record({ kind: fc.constant('duration' as const), from: fc.constant(start), seconds: span }),
  fc.record({ kind: fc.constant('idle' as const), below: fc.constantFrom(1, 4, 5, 60), seconds: span }),
  fc.record({ kind: fc.constant('cost' as const), limit }),
)
const onAccount: fc.Arbitrary<Guard['condition']> = fc.oneof(
  fc.record({
    kind: fc.constant('budget' as const),
    per: fc.constantFrom('day' as const, 'month' as const),
    limit,
  }),
  fc.record({
    kind: fc.constant('credit' as const),
    hours: fc.integer({ min: 1, max: 9 }).map(tenths => tenths / 10),
  }),
)
const rest = {
  id: fc.constant('g0000000000000001'),
  action: fc.constantFrom('stop' as const, 'destroy' as const),
  warning: fc.constantFrom(0, 300, 900, 3600),
  missed: fc.constantFrom('act' as const, 'tell' as const),
  setAt: fc.constant(start),
  history: fc.constant<Guard['history']>([]),
}
const guards: fc.Arbitrary<Guard> = fc.oneof(
  fc.record({ ...rest, condition: onInstance, instance: fc.constant(1) }),
  fc.record({ ...rest, condition: onAccount }),
) as fc.Arbitrary<Guard>
const instances = fc.tuple(...[1, 2, 3].map(one => instanceOf(one)))

function instanceOf(one: number): fc.Arbitrary<PlainInstance> {
  return fc.record({
    id: fc.constant(one),
    running: fc.boolean(),
    gone: fc.constant(false),
    load: fc.constantFrom(0, 50),
    perSecond: fc.integer({ min: 100, max: 400 }),
    diskPerSecond: fc.integer({ min: 0, max: 20 }),
    spent: fc.integer({ min: 0, max: 500_000 }),
    since: fc.integer({ min: start - 9000, max: start }),
  })
}

/** The world that a history plays in. Money is whole micro-dollars by the second. */
class World {
  now = start
  credit = 3_000_000
  today = 0
  all: PlainInstance[]

  constructor(all: readonly PlainInstance[]) {
    this.all = all.map(one => ({ ...one }))
  }

  pass(seconds: number): void {
    for (const one of this.all) {
      const cost = rateOf(one) * seconds
      one.spent += cost
      this.credit -= cost
      this.today += cost
    }
    this.now += seconds
  }

  act(said: string): void {
    for (const [, verb, number] of said.matchAll(/(stop|destroy) (\d)/g)) {
      if (verb === 'stop') for (const one of this.all) if (one.id === Number(number)) one.running = false
      if (verb === 'destroy') this.all = this.all.filter(one => one.id !== Number(number))
    }
  }

  seen(): Seen {
    const { now: at, credit, today } = this
    return { at, credit, today, instances: this.all.map(one => ({ ...one })) }
  }
}

function viewOf(one: PlainInstance, at: number): InstanceView {
  const perHour = rateOf(one) * 3600
  return instanceView({
    id: one.id,
    state: one.running ? 'running' : 'stopped',
    gpuLoad: one.load,
    costPerHour: perHour,
    diskPricePerHour: one.diskPerSecond * 3600,
    spent: { micros: one.spent, at, perHour },
    history: [{ at: one.since, state: 'running', actualStatus: 'running' }],
  })
}

function factsOf({ at, credit, today, instances: all }: Seen): Facts {
  const views = all.map(one => viewOf(one, at))
  const spendPerHour = views.reduce((sum, { costPerHour }) => sum + costPerHour, 0)
  return {
    at,
    account: { credit, instances: Object.fromEntries(views.map(view => [view.id, view])), spendPerHour },
    spentToday: today,
    spentThisMonth: today,
    countedAt: at,
    dayBegan: 0,
    monthBegan: 0,
    dayEnds: endless,
    monthEnds: endless,
    loads: new Map(),
  }
}

/** What is decided, turned into what a guard is afterwards just as Berth does, with requests that never fail. */
class RealGuard {
  guard: Guard
  #facts: Facts
  #seenAt: number | undefined

  constructor(guard: Guard) {
    this.guard = guard
    this.#facts = factsOf({ at: start, credit: 0, today: 0, instances: [] })
  }

  snooze(now: number, minutes: number): void {
    if (this.guard.ended) return
    const due = dueOf(calmed(this.guard), this.#facts)
    this.guard = { ...calmed(this.guard), snoozedUntil: Math.max(now, due ?? now) + minutes * 60 }
  }

  look(now: number, answer: Seen | undefined): Said | undefined {
    if (answer) this.#facts = factsOf(answer)
    const sight: Sight = {
      facts: this.#facts,
      fresh: answer !== undefined,
      sure: true,
      seenAt: this.#seenAt,
      gap: 600,
      acted: new Set(),
    }
    const [decision] = guardActions(sight, [this.guard], now)
    if (answer) this.#seenAt = now
    if (!decision) return undefined
    const { guard } = decision
    switch (decision.kind) {
      case 'note':
        this.guard = guard
        return undefined
      case 'calm':
        this.guard = calmed(guard)
        return undefined
      case 'warn':
        this.guard = warned(guard, decision.dueAt, now)
        return 'warn'
      case 'hold':
        this.guard = held(guard, decision, now)
        return 'hold'
      case 'missed':
        this.guard = missed(guard, decision.dueAt, now)
        return 'missed'
      case 'over':
        this.guard = over(guard, now, '')
        return 'over'
      case 'act':
        this.guard = after({ ...guard, begunAt: now }, { done: decision.targets }, this.#facts, now)
        return `act ${decision.targets.map(({ action, instance }) => `${action} ${instance}`).join(' ')}`
      default:
        throw new Error(`the history has no ${decision.kind}`)
    }
  }
}

/** Plays a history to both, and gives what each said at each look. */
function play(
  wish: Guard,
  all: readonly PlainInstance[],
  history: readonly Event[],
): { plain: string[]; real: string[] } {
  const world = new World(all)
  const plain = new PlainGuard(wish)
  const real = new RealGuard(wish)
  const told = { plain: [] as string[], real: [] as string[] }
  // Berth has seen the instance that a guard is set on.
  for (const happens of [{ kind: 'look', wait: 0, answers: true } as const, ...history]) {
    if (happens.kind === 'load')
      for (const one of world.all) if (one.id === happens.id) one.load = happens.load
    if (happens.kind === 'start')
      for (const one of world.all)
        if (one.id === happens.id && !one.running) Object.assign(one, { running: true, since: world.now })
    if (happens.kind === 'topUp') world.credit = happens.credit
    if (happens.kind === 'snooze') {
      plain.snooze(world.now, happens.minutes)
      real.snooze(world.now, happens.minutes)
    }
    if (happens.kind !== 'look' && happens.kind !== 'sleep') continue
    world.pass(happens.wait)
    // One that is gone ends the history: what becomes of its guard is not of this model.
    if (wish.instance !== undefined && !world.all.some(one => one.id === wish.instance)) break
    const answer = happens.kind === 'sleep' || happens.answers ? world.seen() : undefined
    const said = plain.look(world.now, answer)
    told.plain.push(`${world.now} ${said}`)
    told.real.push(`${world.now} ${real.look(world.now, answer)}`)
    if (said?.startsWith('act')) world.act(said)
  }
  return told
}

test('over thousands of histories guards do what a plain model of them does', () => {
  const said = new Map<string, number>()
  fc.assert(
    fc.property(guards, instances, fc.array(event, { minLength: 5, maxLength: 60 }), (wish, all, history) => {
      const { plain, real } = play(wish, all, history)
      for (const line of plain) {
        const word = `${wish.condition.kind} ${line.split(' ')[1]}`
        said.set(word, (said.get(word) ?? 0) + 1)
      }
      expect(real).toEqual(plain)
    }),
    { numRuns: 4000 },
  )
  // The histories are not empty ones: each kind acted in some, and there were outages and sleeps at its moment.
  const times = (word: RegExp) =>
    [...said].reduce((sum, [key, count]) => sum + (word.test(key) ? count : 0), 0)
  for (const kind of ['time', 'duration', 'idle', 'cost', 'budget', 'credit'])
    expect(times(new RegExp(`^${kind} act`))).toBeGreaterThan(0)
  for (const word of [/ warn/, / hold/, / missed/, / over/]) expect(times(word)).toBeGreaterThan(0)
})
