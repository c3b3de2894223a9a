import fc from 'fast-check'
import type { Fate, Fault } from '../../../plain-service/service.ts'

export type Choosing = 'replace' | 'raise' | 'tell'

/** What may happen in a history. Whom or what it concerns is taken modulo those that there are. */
export type Event =
  | { do: 'look' | 'kill' | 'cancel'; berth: number }
  | { do: 'turn'; which: number }
  | { do: 'turns' | 'newest' | 'rest' | 'refuse the key' | 'allow the key' }
  | { do: 'pass' | 'live'; seconds: number }
  | { do: 'fault'; what: 'create' | 'destroy' | 'list' | 'search' | 'stop'; how: Fault }
  | { do: 'outbid' | 'win' | 'destroyed elsewhere'; which: number }
  | { do: 'choose'; berth: number; choice: Choosing; which: number }

export interface History {
  /** One machine for each, the cheapest first. */
  offers: (Fate | 'gone')[]
  tries: number
  /** Dollars that the tries of one replacement may cost. */
  ceiling: number
  /** Whether Berth itself has rented what is outbid, or the user by hand. */
  own: boolean
  /** Whether another Berth on the account was told to replace it, too. */
  both: boolean
  events: Event[]
}

const number = fc.nat({ max: 7 })
const offered = fc.oneof(
  { weight: 3, arbitrary: fc.constant('good' as const) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Fate | 'gone'>('shut', 'stuck', 'exited', 'offline', 'outbid', 'gone'),
  },
)
const how = fc.oneof(
  fc.constantFrom<Fault>('lost', 'unanswered', 'busy'),
  fc.constantFrom(1, 9, 60).map(late => ({ late })),
)
const only = <Kind extends Event['do']>(...kinds: Kind[]) => fc.constantFrom(...kinds)

const event = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: only('turn'), which: number }) },
  { weight: 5, arbitrary: fc.record({ do: only('turns', 'newest', 'rest') }) },
  { weight: 6, arbitrary: fc.record({ do: only('look'), berth: number }) },
  { weight: 6, arbitrary: fc.record({ do: only('pass', 'live'), seconds: fc.constantFrom(2, 20, 60, 400) }) },
  { weight: 4, arbitrary: fc.record({ do: only('kill'), berth: number }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: only('fault'),
      what: fc.constantFrom('create', 'create', 'destroy', 'list', 'search', 'stop'),
      how,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: only('outbid', 'win'), which: number }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: only('choose'),
      berth: number,
      choice: fc.constantFrom('replace', 'raise', 'tell'),
      which: number,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: only('cancel'), berth: number }) },
  { weight: 1, arbitrary: fc.record({ do: only('refuse the key', 'allow the key') }) },
  { weight: 1, arbitrary: fc.record({ do: only('destroyed elsewhere'), which: number }) },
) as fc.Arbitrary<Event>

const original = 0
const turns = (most: number) =>
  fc.array(fc.oneof(fc.record({ do: only('turn'), which: number }), fc.constant({ do: 'newest' as const })), {
    maxLength: most,
  })
const afterwards = fc.constantFrom<Event[]>(
  [{ do: 'kill', berth: 0 }],
  [{ do: 'rest' }],
  [
    { do: 'kill', berth: 0 },
    { do: 'live', seconds: 60 },
  ],
)
const outbidAgain: Event[] = [
  { do: 'live', seconds: 400 },
  { do: 'outbid', which: original },
  { do: 'look', berth: 0 },
]

/** What matters most: replacing begins, is chosen against or is not needed any more, and Berth ends in the middle of it. */
const stretch: fc.Arbitrary<Event[]> = fc.oneof(
  fc.tuple(turns(9), afterwards).map(([some, then]) => [...outbidAgain, ...some, ...then]),
  fc
    .tuple(fc.constantFrom<Choosing>('tell', 'raise', 'replace'), turns(3), afterwards)
    .map(([choice, some, then]): Event[] => [
      { do: 'choose', berth: 0, choice, which: original },
      ...some,
      ...then,
    ]),
  fc
    .tuple(fc.constantFrom<'win' | 'outbid'>('win', 'outbid'), turns(3), afterwards)
    .map(([what, some, then]): Event[] => [
      { do: what, which: original },
      { do: 'look', berth: 0 },
      ...some,
      ...then,
    ]),
)

export const histories: fc.Arbitrary<History> = fc.record({
  offers: fc.array(offered, { minLength: 1, maxLength: 5 }),
  tries: fc.integer({ min: 1, max: 4 }),
  ceiling: fc.constantFrom(0.015, 0.03, 1),
  own: fc.boolean(),
  both: fc.boolean(),
  events: fc
    .tuple(
      // It was outbid just now.
      fc
        .tuple(turns(12), afterwards)
        .map(([some, then]) => [{ do: 'look', berth: 0 } as const, ...some, ...then]),
      fc.array(
        fc.oneof({ weight: 4, arbitrary: event.map(each => [each]) }, { weight: 1, arbitrary: stretch }),
        { maxLength: 25, size: 'max' },
      ),
    )
    .map(([first, rest]) => [...first, ...rest.flat()]),
})
