import type { FaultInput } from '../../../simulator/http/fault-rules.ts'
import type { Chance } from './chance.ts'
import type { Living } from './live-days.ts'

/**
 * All of Berth's requests. They need two rules, since the two requests of a poll are sent at once, and which arrives
 * first, and uses up a rule, does not follow from the seed.
 */
const everything = '^/api/v\\d/(?!users/current/).*/$ ^/api/v0/users/current/$'

/** The paths with faults. All of Berth's paths end with a slash, and no others. */
const paths = [
  everything,
  everything,
  '^/api/v[01]/instances/$',
  '^/api/v0/users/current/$',
  '^/api/v0/asks/\\d+/$',
  '^/api/v0/asks/\\d+/$',
  '^/api/v0/instances/\\d+/$',
  '^/api/v0/instances/\\d+/$',
  '^/api/v0/instances/bid_price/',
  '^/api/v0/bundles/$',
  '^/api/v0/instances/\\d+/ssh/$',
] as const

/** Mean seconds without and with faults. */
const fair = 800
const foul = 600
/** The longest delay of an answer in milliseconds, beyond some timeouts. */
const latest = 40_000

/** Sets and clears random faults. */
export function beginWeather(living: Living, chance: Chance): void {
  const { sim, agenda, pace, haste } = living
  const turn = (isFoul: boolean) => {
    if (living.isOver) return
    const faults = Array.from({ length: isFoul ? chance.integer(1, 3) : 0 }, () => aFault(chance))
    sim.controls.setFaults(faults.flat())
    agenda.add(pace.now + (chance.pause(isFoul ? foul : fair) / haste) * 1000, () => turn(!isFoul))
  }
  turn(false)
}

function aFault(chance: Chance): FaultInput[] {
  const befallen = chance.pick(paths).split(' ')
  const times = chance.integer(1, 4)
  const kind = chance.pick([
    'status',
    'status',
    'delay',
    'hang',
    'hang_after',
    'reset',
    'reset_after',
    'garbage',
    'wrong_types',
  ] as const)
  const how =
    kind === 'status'
      ? { kind, status: chance.pick([401, 403, 429, 500, 503]) }
      : { kind, ...(kind === 'delay' ? { ms: chance.integer(100, latest) } : {}) }
  return befallen.map(path => ({ path, times, ...how }))
}
