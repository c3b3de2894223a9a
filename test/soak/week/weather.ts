import { setTimeout as pause } from 'node:timers/promises'
import type { FaultInput } from '../../../simulator/http/fault-rules.ts'
import type { Simulator } from '../../../simulator/simulator.ts'
import type { Chance } from './chance.ts'

/** What the faults befall. All of Berth's paths end with a slash, those of others do not. */
const paths = [
  '/$',
  '/$',
  '^/api/v0/instances/$',
  '^/api/v0/users/current/$',
  '^/api/v0/asks/\\d+/$',
  '^/api/v0/asks/\\d+/$',
  '^/api/v0/instances/\\d+/$',
  '^/api/v0/instances/\\d+/$',
  '^/api/v0/instances/bid_price/',
  '^/api/v0/bundles/$',
  '^/api/v0/instances/\\d+/ssh/$',
] as const

/** Real milliseconds of fair and of foul weather, on average. */
const fair = 400
const foul = 300

/** Faults come and go, until the signal: from then on the weather is fair. */
export async function weather(sim: Simulator, chance: Chance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(chance.pause(fair), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    sim.controls.setFaults(Array.from({ length: chance.integer(1, 3) }, () => aFault(chance)))
    await pause(chance.pause(foul), undefined, { signal }).catch(() => undefined)
    sim.controls.setFaults([])
  }
  sim.controls.setFaults([])
}

function aFault(chance: Chance): FaultInput {
  const path = chance.pick(paths)
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
  if (kind === 'status') return { path, times, kind, status: chance.pick([429, 500, 503]) }
  return { path, times, kind, ...(kind === 'delay' ? { ms: chance.integer(10, 150) } : {}) }
}
