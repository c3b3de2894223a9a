import type { Profile } from '#simulator/deployment/profile.ts'
import { type Instance, isOutbid } from '#simulator/world/instances/instance.ts'
import type { World } from '#simulator/world/world.ts'

/** The four fields of an instance's state. */
export interface States {
  actual_status: string | null
  cur_state: string
  next_state: string
  intended_status: string
}

/** World milliseconds for which a new instance has no status before it is `created`. */
const NOTHING_YET = 2000

/** An instance's state in the words of the public deployment, where a halted container is `exited`. */
export function publicStates(world: World, instance: Instance, { outbid }: Profile): States {
  const { status, intended, queued } = instance
  if (status === 'stopped') {
    const shown = isOutbid(instance) && outbid === 'stopped' ? 'stopped' : intended
    const next = queued ? 'running' : 'stopped'
    return { actual_status: 'exited', cur_state: 'stopped', next_state: next, intended_status: shown }
  }
  const created = status === null && world.clock.now() - instance.since > NOTHING_YET
  return {
    actual_status: created ? 'created' : status,
    cur_state: 'running',
    next_state: 'running',
    intended_status: intended,
  }
}
