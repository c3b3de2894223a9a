import fc from 'fast-check'
import type { Fate, Fault, Kind, Shows } from './service.ts'

/** What happens to the instances of an offer; a gone offer gives none. */
export type Offered = Fate | 'gone'

/** An event of a history. Numbers that choose among things count modulo how many there are. */
export type Event =
  | { do: 'rent'; fate: Offered }
  | { do: 'poll' | 'kill' | 'clock back' | 'another key' | 'refuse the key' | 'allow the key' }
  | { do: 'turn'; which: number }
  | { do: 'turns' | 'newest' | 'rest' }
  | { do: 'pass' | 'live'; seconds: number }
  | { do: 'cancel' | 'wait longer' | 'dismiss' | 'resolve'; rental: number }
  | { do: 'fault'; what: Kind; how: Fault }
  | { do: 'destroyed elsewhere'; which: number }
  | { do: 'fate'; which: number; fate: Fate }
  | { do: 'stranger'; marked: boolean }

export interface History {
  shows: Shows
  exclusive: boolean
  first: Offered
  /** Faults of the first creations. */
  faults: Fault[]
  events: Event[]
}

const number = fc.nat({ max: 7 })
const fate = fc.constantFrom<Fate>('good', 'loading', 'loading', 'exited', 'offline', 'unknown', 'stopped')
const offered = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Offered>('good') },
  { weight: 3, arbitrary: fate },
  { weight: 1, arbitrary: fc.constant<Offered>('gone') },
)
const how = fc.oneof(
  fc.constantFrom<Fault>('lost', 'unanswered', 'failing', 'refused', 'unsaid'),
  fc.constantFrom(1, 4, 15, 60, 200).map(late => ({ late })),
  fc.constantFrom(4, 60).map(late => ({ late, page: true as const })),
)
const only = <Kind extends Event['do']>(...kinds: Kind[]) => fc.constantFrom(...kinds)
const seconds = fc.constantFrom(1, 2, 5, 20, 700)
const what = fc.constantFrom<Kind>('create', 'destroy', 'list')

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ do: only('turn'), which: number }) },
  { weight: 4, arbitrary: fc.record({ do: only('turns', 'newest', 'rest') }) },
  { weight: 5, arbitrary: fc.record({ do: only('poll') }) },
  { weight: 6, arbitrary: fc.record({ do: only('pass', 'live'), seconds }) },
  { weight: 2, arbitrary: fc.record({ do: only('kill') }) },
  { weight: 4, arbitrary: fc.record({ do: only('fault'), what, how }) },
  { weight: 2, arbitrary: fc.record({ do: only('rent'), fate: offered }) },
  { weight: 4, arbitrary: fc.record({ do: only('cancel'), rental: number }) },
  { weight: 2, arbitrary: fc.record({ do: only('wait longer', 'dismiss', 'resolve'), rental: number }) },
  { weight: 2, arbitrary: fc.record({ do: only('refuse the key', 'allow the key', 'another key') }) },
  { weight: 2, arbitrary: fc.record({ do: only('clock back') }) },
  { weight: 2, arbitrary: fc.record({ do: only('destroyed elsewhere'), which: number }) },
  { weight: 1, arbitrary: fc.record({ do: only('fate'), which: number, fate }) },
  { weight: 2, arbitrary: fc.record({ do: only('stranger'), marked: fc.boolean() }) },
)

/** Some steps of the first rental, sometimes with its cancellation while the disk is slower than the service. */
const beginning = fc
  .tuple(fc.nat({ max: 11 }), fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 2, max: 6 })))
  .map(([steps, after]): Event[] => [
    ...Array.from({ length: steps }, (): Event => ({ do: 'turn', which: 0 })),
    ...(after > 0 ? [{ do: 'cancel', rental: 0 } as const] : []),
    ...Array.from({ length: after }, (): Event => ({ do: 'newest' })),
  ])

export const histories: fc.Arbitrary<History> = fc.record({
  shows: fc.constantFrom('both', 'label', 'env', 'nothing'),
  exclusive: fc.boolean(),
  first: offered,
  faults: fc.array(how, { maxLength: 3 }),
  events: fc
    .tuple(beginning, fc.array(event, { maxLength: 40, size: 'max' }))
    .map(([first, rest]) => [...first, ...rest]),
})
