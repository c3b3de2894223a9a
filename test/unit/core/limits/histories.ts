import fc from 'fast-check'
import type { Limit } from '#core/limits/model.ts'
import type { Fate, PlainInstance } from './plain-model.ts'
import { start } from './plain-world.ts'

/** One event of a history. */
export type Event =
  | { kind: 'poll'; wait: number; answers: boolean }
  | { kind: 'sleep'; wait: number }
  | { kind: 'load'; id: number; load: number }
  | { kind: 'start'; id: number }
  | { kind: 'end'; id: number }
  | { kind: 'fate'; of: readonly Fate[] }
  | { kind: 'topUp'; credit: number }
  | { kind: 'tells'; credit: boolean }
  | { kind: 'snooze'; minutes: number }

const id = fc.integer({ min: 1, max: 3 })
export const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('poll'),
      wait: fc.integer({ min: 1, max: 400 }),
      answers: fc.constant(true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('poll'),
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
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end'), id }) },
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tells'), credit: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snooze'), minutes: fc.constantFrom(15, 60) }) },
) as fc.Arbitrary<Event>

const span = fc.integer({ min: 1, max: 60 }).map(minutes => minutes * 60)
const limit = fc.integer({ min: 1, max: 3_000_000 })
const onInstance: fc.Arbitrary<Limit['condition']> = fc.oneof(
  fc.record({ kind: fc.constant('time' as const), at: fc.integer({ min: start + 1, max: start + 8000 }) }),
  fc.record({ kind: fc.constant('duration' as const), from: fc.constant(start), seconds: span }),
  fc.record({ kind: fc.constant('idle' as const), below: fc.constantFrom(1, 4, 5, 60), seconds: span }),
  fc.record({ kind: fc.constant('cost' as const), limit }),
)
const onAccount: fc.Arbitrary<Limit['condition']> = fc.oneof(
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
  history: fc.constant<Limit['history']>([]),
}
export const limits: fc.Arbitrary<Limit> = fc.oneof(
  fc.record({ ...rest, condition: onInstance, instance: fc.constant(1) }),
  fc.record({ ...rest, condition: onAccount }),
) as fc.Arbitrary<Limit>
export const instances = fc.tuple(...[1, 2, 3].map(one => instanceOf(one)))

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

/** When the first day of a history ends. */
export const dayEnds = fc.integer({ min: start + 600, max: start + 9000 })
