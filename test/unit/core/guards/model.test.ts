import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import type { Problem } from '../../../../electron/contract/problem.ts'
import { guardActions, type Sight } from '../../../../electron/core/guards/decide/guard-actions.ts'
import type { Target } from '../../../../electron/core/guards/decide/least-loss.ts'
import { dueOf, type Facts } from '../../../../electron/core/guards/decide/moment.ts'
import { calmed, type Guard } from '../../../../electron/core/guards/guard.ts'
import { after, held, missed, over, warned } from '../../../../electron/core/guards/outcomes.ts'
import { instanceView } from '../views.ts'
import { type Fate, PlainGuard, type PlainInstance, rateOf, type Said, type Seen } from './plain-model.ts'

const start = 1_000_000
const endless = Number.MAX_SAFE_INTEGER

/** What happens in the world between two moments of a history. */
type Event =
  | { kind: 'look'; wait: number; answers: boolean }
  | { kind: 'sleep'; wait: number }
  | { kind: 'load'; id: number; load: number }
  | { kind: 'start'; id: number }
  | { kind: 'settle'; id: number }
  | { kind: 'fate'; of: readonly Fate[] }
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
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle'), id }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fate'),
      of: fc.array(fc.constantFrom<Fate>('refused', 'killed'), { minLength: 1, maxLength: 4 }),
    }),
  },
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
    stopping: fc.constant(false),
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
  month = 0
  dayEnds: number
  /** What becomes of the next requests. */
  fates: Fate[] = []
  all: PlainInstance[]

  constructor(all: readonly PlainInstance[], dayEnds: number) {
    this.dayEnds = dayEnds
    this.all = all.map(one => ({ ...one }))
  }

  pass(seconds: number): void {
    let left = seconds
    for (; this.now + left >= this.dayEnds; this.dayEnds += 86_400) {
      left -= this.dayEnds - this.now
      this.spend(this.dayEnds - this.now)
      this.today = 0
    }
    this.spend(left)
  }

  spend(seconds: number): void {
    for (const one of this.all) {
      const cost = rateOf(one) * seconds
      one.spent += cost
      this.credit -= cost
      this.today += cost
      this.month += cost
    }
    this.now += seconds
  }

  act(said: string): void {
    for (const [, verb, number] of said.matchAll(/(stop|destroy) (\d)/g)) {
      if (verb === 'stop')
        for (const one of this.all)
          if (one.id === Number(number)) Object.assign(one, { running: false, stopping: true })
      if (verb === 'destroy') this.all = this.all.filter(one => one.id !== Number(number))
    }
  }

  seen(): Seen {
    const { now: at, credit, today, month, dayEnds } = this
    return { at, credit, today, month, dayEnds, instances: this.all.map(one => ({ ...one })) }
  }
}

function viewOf(one: PlainInstance, at: number): InstanceView {
  const perHour = rateOf(one) * 3600
  return instanceView({
    id: one.id,
    state: one.running ? 'running' : one.stopping ? 'stopping' : 'stopped',
    gpuLoad: one.load,
    costPerHour: perHour,
    diskPricePerHour: one.diskPerSecond * 3600,
    spent: { micros: one.spent, at, perHour },
    history: [{ at: one.since, state: 'running', actualStatus: 'running' }],
  })
}

function factsOf({ at, credit, today, month, dayEnds, instances: all }: Seen): Facts {
  const views = all.map(one => viewOf(one, at))
  const spendPerHour = views.reduce((sum, { costPerHour }) => sum + costPerHour, 0)
  return {
    at,
    account: { credit, instances: Object.fromEntries(views.map(view => [view.id, view])), spendPerHour },
    spentToday: today,
    spentThisMonth: month,
    countedAt: at,
    dayBegan: 0,
    monthBegan: 0,
    dayEnds,
    monthEnds: endless,
    loads: new Map(),
  }
}

/** What is decided, turned into what a guard is afterwards just as Berth does. */
class RealGuard {
  guard: Guard
  #facts: Facts
  #seenAt: number | undefined

  constructor(guard: Guard) {
    this.guard = guard
    this.#facts = factsOf({ at: start, credit: 0, today: 0, month: 0, dayEnds: endless, instances: [] })
  }

  snooze(now: number, minutes: number): void {
    if (this.guard.ended) return
    const due = dueOf(calmed(this.guard), this.#facts)
    this.guard = { ...calmed(this.guard), snoozedUntil: Math.max(now, due ?? now) + minutes * 60 }
  }

  look(now: number, answer: Seen | undefined, fate: Fate): Said | undefined {
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
        this.guard = this.#acted({ ...guard, begunAt: now }, decision.targets, now, fate)
        return `act ${decision.targets.map(({ action, instance }) => `${action} ${instance}`).join(' ')}`
      default:
        throw new Error(`the history has no ${decision.kind}`)
    }
  }

  /** Killed, what is on disk is that it has begun. */
  #acted(guard: Guard, targets: readonly Target[], now: number, fate: Fate): Guard {
    if (fate === 'killed') return guard
    const out = fate === 'done' ? { done: targets } : { done: [], problem: refusal }
    return after(guard, out, this.#facts, now)
  }
}

const refusal: Problem = { code: 'server_error', message: 'No.' }

/** Plays a history to both, and gives what each said at each look. */
function play(
  wish: Guard,
  all: readonly PlainInstance[],
  history: readonly Event[],
  dayEnds: number,
): { plain: string[]; real: string[] } {
  const world = new World(all, dayEnds)
  const plain = new PlainGuard(wish)
  const real = new RealGuard(wish)
  const told = { plain: [] as string[], real: [] as string[] }
  // Berth has seen the instance that a guard is set on.
  for (const happens of [{ kind: 'look', wait: 0, answers: true } as const, ...history]) {
    if (happens.kind === 'load')
      for (const one of world.all) if (one.id === happens.id) one.load = happens.load
    if (happens.kind === 'start')
      for (const one of world.all)
        if (one.id === happens.id && !one.running && !one.stopping)
          Object.assign(one, { running: true, since: world.now })
    if (happens.kind === 'settle')
      for (const one of world.all) if (one.id === happens.id) one.stopping = false
    if (happens.kind === 'fate') world.fates.push(...happens.of)
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
    const [fate = 'done'] = world.fates
    const said = plain.look(world.now, answer, fate)
    told.plain.push(`${world.now} ${said} ${fate}`)
    told.real.push(`${world.now} ${real.look(world.now, answer, fate)} ${fate}`)
    if (!said?.startsWith('act')) continue
    world.fates.shift()
    if (fate === 'done') world.act(said)
  }
  return told
}

const dayEnds = fc.integer({ min: start + 600, max: start + 9000 })

test('over thousands of histories guards do what a plain model of them does', () => {
  const said = new Map<string, number>()
  fc.assert(
    fc.property(
      guards,
      instances,
      fc.array(event, { minLength: 5, maxLength: 60 }),
      dayEnds,
      (wish, all, history, ends) => {
        const { plain, real } = play(wish, all, history, ends)
        for (const line of plain) {
          const words = line.split(' ')
          const word = `${wish.condition.kind} ${words[1]} ${words.at(-1)}`
          said.set(word, (said.get(word) ?? 0) + 1)
        }
        expect(real).toEqual(plain)
      },
    ),
    { numRuns: 4000 },
  )
  // The histories are not empty ones: each kind acted in some, was refused and cut off, and there were outages and sleeps.
  const times = (word: RegExp) =>
    [...said].reduce((sum, [key, count]) => sum + (word.test(key) ? count : 0), 0)
  for (const kind of ['time', 'duration', 'idle', 'cost', 'budget', 'credit'])
    expect(times(new RegExp(`^${kind} act done`))).toBeGreaterThan(0)
  for (const word of [/ warn/, / hold/, / missed/, / over/, / act refused/, / act killed/])
    expect(times(word)).toBeGreaterThan(0)
})
