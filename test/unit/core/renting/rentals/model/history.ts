import fc from 'fast-check'
import type { Fate, Fault, Shows } from '../../../plain-service/service.ts'

/** What may happen in a history. Whom or what it concerns is taken modulo those that there are. */
export type Event =
  | { do: 'rent'; berth: number; fate: Fate | 'gone' | 'invalid' }
  | { do: 'poll' | 'kill' | 'clock back' | 'another key'; berth: number }
  | { do: 'turn'; which: number }
  | { do: 'turns' | 'newest' | 'rest' | 'refuse the key' | 'allow the key' }
  | { do: 'pass' | 'live'; seconds: number }
  | { do: 'cancel' | 'wait longer' | 'dismiss' | 'resolve'; rental: number }
  | { do: 'fault'; what: 'create' | 'destroy' | 'list'; how: Fault }
  | { do: 'destroyed elsewhere'; which: number }
  | { do: 'fate'; which: number; fate: Fate }
  | { do: 'stranger'; marked: boolean }

export interface History {
  shows: Shows
  exclusive: boolean
  first: Fate | 'gone' | 'invalid'
  /** What befalls the first creations. */
  faults: Fault[]
  events: Event[]
}

const number = fc.nat({ max: 7 })
const fate = fc.constantFrom<Fate>('good', 'stuck', 'exited', 'offline', 'unknown', 'outbid', 'stopped')
const offered = fc.oneof(
  { weight: 3, arbitrary: fc.constant('good' as const) },
  { weight: 3, arbitrary: fate },
  { weight: 1, arbitrary: fc.constantFrom('gone' as const, 'invalid' as const) },
)
const how = fc.oneof(
  fc.constantFrom<Fault>('lost', 'unanswered', 'busy'),
  fc.constantFrom(1, 4, 9, 15, 60).map(late => ({ late })),
)
const only = <Kind extends Event['do']>(...kinds: Kind[]) => fc.constantFrom(...kinds)

const event = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: only('turn'), which: number }) },
  { weight: 4, arbitrary: fc.record({ do: only('turns', 'newest', 'rest') }) },
  { weight: 5, arbitrary: fc.record({ do: only('poll'), berth: number }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: only('pass', 'live'), seconds: fc.constantFrom(1, 2, 5, 20, 700) }),
  },
  { weight: 4, arbitrary: fc.record({ do: only('kill'), berth: number }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: only('fault'), what: fc.constantFrom('create', 'destroy', 'list'), how }),
  },
  { weight: 2, arbitrary: fc.record({ do: only('rent'), berth: number, fate: offered }) },
  { weight: 3, arbitrary: fc.record({ do: only('cancel'), rental: number }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: only('wait longer', 'dismiss', 'resolve'), rental: number }),
  },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.record({ do: only('refuse the key', 'allow the key') }),
      fc.record({ do: only('another key'), berth: number }),
    ),
  },
  { weight: 1, arbitrary: fc.record({ do: only('clock back'), berth: number }) },
  { weight: 1, arbitrary: fc.record({ do: only('destroyed elsewhere'), which: number }) },
  { weight: 1, arbitrary: fc.record({ do: only('fate'), which: number, fate }) },
  { weight: 1, arbitrary: fc.record({ do: only('stranger'), marked: fc.boolean() }) },
) as fc.Arbitrary<Event>

/** It is cancelled at one of its first steps, and the disk is slower than the service. */
const cancelledEarly = fc
  .tuple(fc.integer({ min: 5, max: 11 }), fc.integer({ min: 2, max: 6 }))
  .map(([steps, after]): Event[] => [
    ...Array.from({ length: steps }, (): Event => ({ do: 'turn', which: 0 })),
    { do: 'cancel', rental: 0 },
    ...Array.from({ length: after }, (): Event => ({ do: 'newest' })),
  ])

export const histories: fc.Arbitrary<History> = fc.record({
  shows: fc.constantFrom('both', 'label', 'env', 'both', 'nothing'),
  exclusive: fc.boolean(),
  first: offered,
  faults: fc.array(how, { maxLength: 3 }),
  events: fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: fc.constant<Event[]>([]) }, { weight: 1, arbitrary: cancelledEarly }),
      fc.array(event, { maxLength: 40, size: 'max' }),
    )
    .map(([first, rest]) => [...first, ...rest]),
})
